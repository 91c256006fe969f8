import { Empty, Page } from '../components/layout';

export function DictionaryPage() {
  return (
    <Page title="Dictionary">
      <Empty icon="dictionary">This page is being built.</Empty>
    </Page>
  );
}
