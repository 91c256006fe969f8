/** The frame around every page: menu, heading for screen readers, messages. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './components/icon';
import { PlayerBar } from './components/player_bar';
import { Toasts } from './components/toasts';
import { UnknownPage } from './pages/unknown';
import { href, useRoute } from './router';
import { PAGES, type PageEntry } from './routes';

const SECTIONS = ['Listen', 'Make', 'Server'] as const;

export function App() {
  const { page } = useRoute();
  const entry = page ? PAGES.find(({ name }) => name === page) : PAGES[0];
  const Shown = entry?.Page ?? UnknownPage;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    setOpen(false);
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [entry?.name]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the page
      </a>
      <header class="bar">
        <a class="brand" href={href('speak')}>
          <span class="mark" aria-hidden="true">
            <Icon name="speak" />
          </span>
          Polyvox <span class="soft">Studio</span>
        </a>
        <button type="button" class="button quiet only-icon menu" aria-expanded={open} aria-controls="menu" aria-label="Menu" onClick={() => setOpen(!open)}>
          <Icon name={open ? 'close' : 'menu'} />
        </button>
      </header>
      <Menu current={entry} open={open} onClose={() => setOpen(false)} />
      <main id="main" ref={main} tabIndex={-1}>
        <Shown key={entry?.name} />
      </main>
      <PlayerBar />
      <Toasts />
    </div>
  );
}

function Menu({ current, open, onClose }: { current: PageEntry | undefined; open: boolean; onClose: () => void }) {
  return (
    <nav id="menu" aria-label="Pages" class={open ? 'open' : ''} onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      {SECTIONS.map((section) => (
        <div key={section} class="section">
          <p id={`menu-${section}`}>{section}</p>
          <ul aria-labelledby={`menu-${section}`}>
            {PAGES.filter((page) => page.section === section).map(({ name, title, icon }) => (
              <li key={name}>
                <a href={href(name)} aria-current={name === current?.name ? 'page' : undefined} onClick={onClose}>
                  <Icon name={icon} />
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
