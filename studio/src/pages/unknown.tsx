import { Empty, Page } from '../components/layout';
import { href } from '../router';

/** An address that no page has. */
export function UnknownPage() {
  return (
    <Page title="No such page">
      <Empty icon="search">
        The Studio has no page at this address. The menu shows them all; <a href={href('speak')}>Speak</a> is the first.
      </Empty>
    </Page>
  );
}
