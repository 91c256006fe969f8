import { Empty, Page } from '../components/layout';

export function VoicesPage() {
  return (
    <Page title="My voices">
      <Empty icon="voices">This page is being built.</Empty>
    </Page>
  );
}
