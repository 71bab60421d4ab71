/** The classes of choices in one row, of which one is chosen, and of each of them. */
export const segmentsLook = 'inline-flex gap-0.5 rounded-control border border-line bg-sunken p-0.5';
export const segmentLook =
  'inline-flex h-6.5 items-center gap-1.5 rounded-small px-2.5 text-12 font-medium whitespace-nowrap text-muted max-sm:h-10 ' +
  'aria-pressed:bg-surface aria-pressed:text-text aria-pressed:shadow-(--shadow-1) ' +
  'aria-selected:bg-surface aria-selected:text-text aria-selected:shadow-(--shadow-1)';

interface SegmentsProps<Value extends string> {
  /** Of the whole group, for who cannot see it. */
  readonly label: string;
  readonly values: readonly Value[];
  readonly value: Value;
  readonly textOf: (value: Value) => string;
  readonly onChoose: (value: Value) => void;
  readonly className?: string;
}

/** A choice of one out of a few. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { label, values, value, textOf, onChoose, className = '' } = props;
  return (
    <div className={`${segmentsLook} ${className}`} role="group" aria-label={label}>
      {values.map((one) => (
        <button
          key={one}
          type="button"
          className={segmentLook}
          aria-pressed={one === value}
          onClick={() => onChoose(one)}
        >
          {textOf(one)}
        </button>
      ))}
    </div>
  );
}
