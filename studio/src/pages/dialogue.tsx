import { Empty, Page } from '../components/layout';

export function DialoguePage() {
  return (
    <Page title="Dialogue">
      <Empty icon="dialogue">This page is being built.</Empty>
    </Page>
  );
}
