import { useState } from 'react';

import { t } from '../../../../text/text.ts';
import { describedBy, OptionFrame, type OptionProps } from './option-frame.tsx';

/** Whatever has no control of its own, as JSON; while it is none the form is not sent. */
export function JsonOption(props: OptionProps) {
  const { id, value, onChange } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (value === undefined ? '' : JSON.stringify(value, null, 2));
  const fault = isJson(shown) ? undefined : t('options.noJson');
  const problem = fault ?? props.problem;
  return (
    <OptionFrame {...props} problem={problem} note={t('options.json')}>
      <textarea
        id={id}
        ref={(area) => area?.setCustomValidity(fault ?? '')}
        className="in short mono"
        spellCheck={false}
        value={shown}
        onBlur={() => fault === undefined && setTyped(null)}
        onChange={({ target: { value: text } }) => {
          setTyped(text);
          if (isJson(text)) onChange(text.trim() === '' ? null : JSON.parse(text));
        }}
        {...describedBy({ ...props, problem })}
      />
    </OptionFrame>
  );
}

function isJson(text: string): boolean {
  try {
    if (text.trim() !== '') JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
