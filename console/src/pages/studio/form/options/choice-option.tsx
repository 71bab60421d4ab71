import type { Control } from '../../../../work/options/control.ts';
import { textOf } from '../../../../work/work.ts';
import { describedBy, OptionFrame, type OptionProps } from './option-frame.tsx';
import { standardText, wordsOf } from './option-words.ts';

/** One of the vendor's words or numbers, or what the model takes by itself. */
export function ChoiceOption(
  props: OptionProps & { readonly control: Extract<Control, { readonly kind: 'choice' }> },
) {
  const { id, field, value, control, onChange } = props;
  return (
    <OptionFrame {...props}>
      <select
        id={id}
        className="in"
        value={textOf(value)}
        onChange={({ target }) =>
          onChange(control.values.find((one) => String(one) === target.value) ?? null)
        }
        {...describedBy(props)}
      >
        <option value="">{standardText(field)}</option>
        {control.values.map((one) => (
          <option key={one} value={String(one)}>
            {wordsOf(one)}
          </option>
        ))}
      </select>
    </OptionFrame>
  );
}
