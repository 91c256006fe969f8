/** Icons, drawn for the Studio on a grid of 24. */
const PATHS = {
  play: 'M8 5.5v13l10.5-6.5z',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  stop: 'M6.5 6.5h11v11h-11z',
  speak: 'M4 10v4M8 7v10M12 4.5v15M16 8v8M20 10.5v3',
  gallery: 'M4 4.5h6.5V11H4zM13.5 4.5H20V11h-6.5zM4 14h6.5v6H4zM13.5 14H20v6h-6.5z',
  mix: 'M5 7h8M17 7h2M5 12h2M11 12h8M5 17h10M19 17h0M15 5v4M9 10v4M17 15v4',
  compare: 'M5 5.5h5v13H5zM14 5.5h5v13h-5z',
  voices: 'M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3',
  dialogue: 'M4 5h11v8H9l-3 3v-3H4zM18 9h2v7h-2v3l-3-3h-4',
  dictionary: 'M6 4h12v16H7.5A1.5 1.5 0 0 1 6 18.5zM6 17.5h12M9.5 8h5',
  jobs: 'M5 19V6l3.5-1.5L12 6l3.5-1.5L19 6v13l-3.5-1.5L12 19l-3.5-1.5zM12 6v13',
  live: 'M3 12h4l2.5-6 4 13 3-9 1.5 2H21',
  settings: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1',
  star: 'M12 4.2l2.4 4.9 5.4.8-3.9 3.8.9 5.4-4.8-2.6-4.8 2.6.9-5.4L4.2 9.9l5.4-.8z',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 12.5h8L17 7',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5L20 20',
  down: 'M7 10l5 5 5-5',
  check: 'M5 12.5l4.5 4.5L19 7',
  alert: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.3',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5M12 7.8v.3',
  upload: 'M12 16V5M7.5 9.5L12 5l4.5 4.5M5 20h14',
  record: 'M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10z',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  up: 'M7 14l5-5 5 5',
  key: 'M8 9.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 11l8.5-7M16 6.8l2.5 3M13.5 9l2 2.4',
  volume: 'M4 10v4h3.5L12 18V6L7.5 10zM15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  captions: 'M3.5 6h17v12h-17zM7 11h4M13.5 11H17M7 14.5h7',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside words; what it means is said by the text or the label of what holds it. */
export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  return (
    <svg class={filled ? 'icon filled' : 'icon'} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
