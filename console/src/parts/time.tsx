import { useEffect, useState } from 'react';

import { language } from '../text/text.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });

/** How long ago, with the exact time on hover; it moves with the minutes. */
export function Ago({ at }: { readonly at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {agoText(Date.parse(at) - now)}
    </time>
  );
}

function agoText(ms: number): string {
  const unit = UNITS.find(([, size]) => Math.abs(ms) >= size);
  return unit === undefined
    ? relative.format(0, 'second')
    : relative.format(Math.round(ms / unit[1]), unit[0]);
}
