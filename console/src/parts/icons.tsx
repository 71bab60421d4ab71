/** Line icons, 24 units wide, drawn with the colour of the text. */
const PATHS = {
  search: 'M4 11a7 7 0 1 0 14 0 7 7 0 1 0-14 0m16 9-3.9-3.9',
  studio:
    'm14.6 17.9-10.7-2.9M18.4 2.6a2 2 0 0 1 3 3L17.4 9.6l.9.9a2 2 0 0 1 0 3l-.9.9-8-8 .9-.9a2 2 0 0 1 3 0l.9.9zM9 8c-1.8 2.7-4 3.5-7 3.8l8 10c2-1 6-5 6-7',
  gallery:
    'M18 22H4a2 2 0 0 1-2-2V6m20 7-1.3-1.3a2.4 2.4 0 0 0-3.4 0L11 18M10 8a2 2 0 1 0 4 0 2 2 0 1 0-4 0M8 2h12a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z',
  tasks: 'M8 6h11M4 12h10M11 18h9',
  shop: 'M6 2 3 6v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2V6l-3-4ZM3 6h18M16 10a4 4 0 0 1-8 0',
  models:
    'M4 2h16a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zM4 14h16a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2zM6 6h.01M6 18h.01',
  usage: 'M3 3v18h18M8 17v-5M13 17V8M18 17v-9',
  keys: 'M2 15.5a5.5 5.5 0 1 0 11 0 5.5 5.5 0 1 0-11 0m19-13.5-9.6 9.6M15.5 7.5l3 3L22 7l-3-3',
  start: 'm4 17 6-6-6-6M12 19h8',
  sun: 'M8 12a4 4 0 1 0 8 0 4 4 0 1 0-8 0M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  down: 'm6 9 6 6 6-6',
  left: 'm15 18-6-6 6-6',
  right: 'm9 18 6-6-6-6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  image:
    'M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM7 9a2 2 0 1 0 4 0 2 2 0 1 0-4 0m14 6-3.1-3.1a2 2 0 0 0-2.8 0L6 21',
  video: 'M4 6h10a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2zm12 7 6 4V7l-6 4',
  speech: 'M12 2a3 3 0 0 0-3 3v7a3 3 0 0 0 6 0V5a3 3 0 0 0-3-3ZM19 10v2a7 7 0 0 1-14 0v-2M12 19v3',
  lipsync: 'M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M8 14s1.5 2 4 2 4-2 4-2M9 9h.01M15 9h.01',
  avatar: 'M8 8a4 4 0 1 0 8 0 4 4 0 1 0-8 0M4 21a8 8 0 0 1 16 0',
  comfy:
    'M4.5 3h4A1.5 1.5 0 0 1 10 4.5v4A1.5 1.5 0 0 1 8.5 10h-4A1.5 1.5 0 0 1 3 8.5v-4A1.5 1.5 0 0 1 4.5 3zM15.5 14h4a1.5 1.5 0 0 1 1.5 1.5v4a1.5 1.5 0 0 1-1.5 1.5h-4a1.5 1.5 0 0 1-1.5-1.5v-4a1.5 1.5 0 0 1 1.5-1.5zM6.5 10v4a3 3 0 0 0 3 3H14',
  machine: 'M6 6h12v12H6zM9 2v4M15 2v4M9 18v4M15 18v4M2 9h4M2 15h4M18 9h4M18 15h4',
  analysis:
    'M3 7V5a2 2 0 0 1 2-2h2M17 3h2a2 2 0 0 1 2 2v2M21 17v2a2 2 0 0 1-2 2h-2M7 21H5a2 2 0 0 1-2-2v-2M7 8h8M7 12h10M7 16h6',
  chat: 'M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2Z',
  filter: 'M3 6h18M7 12h10M10 18h4',
  share: 'M12 15V3M8 7l4-4 4 4M5 12v7a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-7',
  plus: 'M5 12h14M12 5v14',
  minus: 'M5 12h14',
  close: 'M18 6 6 18M6 6l12 12',
  check: 'M20 6 9 17l-5-5',
  again: 'M3 12a9 9 0 1 0 3-6.7L3 8M3 3v5h5',
  edit: 'M12 20h9M16.5 3.5a2.1 2.1 0 0 1 3 3L7 19l-4 1 1-4z',
  remix: 'M3 7h11M18 7h3M3 17h3M10 17h11M14 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M6 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0',
  download: 'M12 3v12m-5-5 5 5 5-5M4 21h16',
  input: 'M10 17l5-5-5-5M15 12H3M15 3h4a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-4',
  trash: 'M3 6h18M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2m3 0v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6',
  copy: 'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H10a2 2 0 0 1-2-2V10a2 2 0 0 1 2-2zM4 16a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2',
  play: 'M6 4l14 8-14 8z',
  zoom: 'M4 11a7 7 0 1 0 14 0 7 7 0 1 0-14 0m16 9-3.9-3.9M11 8v6M8 11h6',
  compare: 'M12 3v18M5 5h4v14H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM15 5h4a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1h-4',
  grid: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  star: 'm12 3 2.8 5.7 6.2.9-4.5 4.4 1.1 6.2-5.6-2.9-5.6 2.9 1.1-6.2L3 9.6l6.2-.9z',
  board: 'M4 5h6l2 2h8a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z',
  vary: 'M12 4v4M12 16v4M4 12h4M16 12h4M6.5 6.5 9 9M15 15l2.5 2.5M6.5 17.5 9 15M15 9l2.5-2.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  warning: 'M12 3 22.5 21h-21zM12 10v5M12 18v.1',
} as const;

/** Name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon beside a label; hidden from screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={`${size / 16}rem`}
      height={`${size / 16}rem`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of Kiln; its flame is the one warm colour that stands still. */
export function Mark() {
  return (
    <svg width="1.25rem" height="1.25rem" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d="M2.5 18V9.5a7.5 7.5 0 0 1 15 0V18Z"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.75"
        strokeLinejoin="round"
      />
      <path d="M6.5 18v-4.2a3.5 3.5 0 0 1 7 0V18Z" fill="var(--running-fill)" />
    </svg>
  );
}
