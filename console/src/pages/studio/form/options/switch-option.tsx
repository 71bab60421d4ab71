import { describedBy, OptionFrame, type OptionProps } from './option-frame.tsx';
import { standardText } from './option-words.ts';

/** Yes or no; untouched it stands as the model takes it by itself. */
export function SwitchOption(props: OptionProps) {
  const { id, field, value, onChange } = props;
  const isOn = (value ?? field.standard) === true;
  return (
    <OptionFrame
      {...props}
      note={standardText(field)}
      beside={
        <button
          type="button"
          id={id}
          className="switch"
          role="switch"
          aria-checked={isOn}
          onClick={() => onChange(!isOn)}
          {...describedBy(props)}
        />
      }
    />
  );
}
