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
  readonly toText: (value: Value) => string;
  readonly onChoose: (value: Value) => void;
  readonly className?: string;
}

/** A choice of one out of a few. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { label, values, value, toText, onChoose, className = '' } = props;
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
          {toText(one)}
        </button>
      ))}
    </div>
  );
}

/** The classes of what opens below a field or a button: over the page, on phones a sheet at its foot. */

/** Where it stands. The sheet is placed by the window, not by the button that opens it. */
export const placeLook = 'z-(--z-popover) max-sm:transform-none!';
const SHEET =
  'max-sm:fixed max-sm:inset-x-0 max-sm:top-auto max-sm:bottom-0 max-sm:z-40 max-sm:flex max-sm:max-h-[72vh] max-sm:w-full ' +
  'max-sm:flex-col max-sm:rounded-b-none max-sm:shadow-[0_0_0_100vmax_var(--scrim)]';
export const pickerLook = `overflow-hidden rounded-sheet bg-raised shadow-(--shadow-3) ${SHEET}`;
export const listLook = 'overflow-y-auto px-2 pb-2';
export const groupLook = 'flex justify-between px-2 pt-3 pb-1 text-12 font-normal text-faint';
export const optionLook =
  'min-h-12 cursor-pointer items-center gap-3 rounded-control px-2 py-1.5 hover:bg-hover data-highlighted:bg-hover ' +
  'data-selected:bg-select data-disabled:cursor-not-allowed data-disabled:text-faint';
/** A command, or what else is done by a press. */
export const commandLook =
  'flex items-center gap-3 min-h-10 py-0 px-2 rounded-control cursor-pointer [&>svg]:text-muted data-highlighted:bg-active hover:bg-hover';
