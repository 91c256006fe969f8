import { Empty, Page } from '../components/layout';

export function JobsPage() {
  return (
    <Page title="Books">
      <Empty icon="jobs">This page is being built.</Empty>
    </Page>
  );
}
