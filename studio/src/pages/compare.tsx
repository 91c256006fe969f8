import { Empty, Page } from '../components/layout';

export function ComparePage() {
  return (
    <Page title="Compare">
      <Empty icon="compare">This page is being built.</Empty>
    </Page>
  );
}
