import { Empty, Page } from '../components/layout';

export function GalleryPage() {
  return (
    <Page title="Gallery">
      <Empty icon="gallery">This page is being built.</Empty>
    </Page>
  );
}
