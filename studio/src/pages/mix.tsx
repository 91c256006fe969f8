import { Empty, Page } from '../components/layout';

export function MixPage() {
  return (
    <Page title="Mix">
      <Empty icon="mix">This page is being built.</Empty>
    </Page>
  );
}
