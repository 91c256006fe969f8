import { Empty, Page } from '../components/layout';

export function SpeakPage() {
  return (
    <Page title="Speak">
      <Empty icon="speak">This page is being built.</Empty>
    </Page>
  );
}
