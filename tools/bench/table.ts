import type { Figure } from './bench.ts';

/** The figures as a Markdown table. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, ours, baseline, ratio, note }) => [
    what,
    ours,
    baseline === '' ? '-' : baseline,
    ratio === null ? '-' : `${ratio.value.toFixed(2)}x`,
    ratio === null ? '-' : formatTarget(ratio),
    note === '' ? '-' : note,
  ]);
  const head = ['what', 'Kiln', 'baseline', 'ratio', 'target', 'note'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function formatTarget({ value, target, atMost = false }: NonNullable<Figure['ratio']>): string {
  const isMet = atMost ? value <= target : value >= target;
  return `${atMost ? 'at most ' : ''}${Number(target.toFixed(2))}x, ${isMet ? 'met' : atMost ? 'missed' : 'below'}`;
}
