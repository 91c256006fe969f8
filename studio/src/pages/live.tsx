import { Empty, Page } from '../components/layout';

export function LivePage() {
  return (
    <Page title="Live">
      <Empty icon="live">This page is being built.</Empty>
    </Page>
  );
}
