import { Empty, Page } from '../components/layout';

export function SettingsPage() {
  return (
    <Page title="Settings">
      <Empty icon="settings">This page is being built.</Empty>
    </Page>
  );
}
