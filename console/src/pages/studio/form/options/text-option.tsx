import { useState } from 'react';

import { MOST_TYPED } from '../../../../parts/controls/keys.ts';
import { Input, TextArea } from '../../../../parts/looks/inputs.tsx';
import { t } from '../../../../text/text.ts';
import { describedBy, OptionFrame, type OptionProps } from './option-frame.tsx';

/** Longer texts get several lines. */
const ONE_LINE = 512;

/** Words of the vendor's kind. */
export function TextOption(props: OptionProps & { readonly most: number | null }) {
  const { id, value, most, onChange } = props;
  const common = {
    id,
    maxLength: most ?? MOST_TYPED,
    value: typeof value === 'string' ? value : '',
    ...describedBy(props),
  };
  const note =
    most === null
      ? props.field.isRequired === true
        ? ''
        : t('field.optional')
      : t('options.most', { count: most.toLocaleString() });
  return (
    <OptionFrame {...props} note={note}>
      {(most ?? 0) > ONE_LINE ? (
        <TextArea {...common} onChange={({ target }) => onChange(target.value || null)} />
      ) : (
        <Input {...common} onChange={({ target }) => onChange(target.value || null)} />
      )}
    </OptionFrame>
  );
}

/** A list of words, one a line. */
export function LinesOption(props: OptionProps) {
  const { id, value, onChange } = props;
  const lines = Array.isArray(value) ? value.join('\n') : '';
  const [text, setText] = useState(lines);
  // An empty line while somebody types is no member of the list, and stays where it is.
  const shown = listOf(text).join('\n') === lines ? text : lines;
  return (
    <OptionFrame {...props} note={t('options.lines')}>
      <TextArea
        id={id}
        short
        value={shown}
        onChange={({ target }) => {
          setText(target.value);
          const list = listOf(target.value);
          onChange(list.length === 0 ? null : list);
        }}
        {...describedBy(props)}
      />
    </OptionFrame>
  );
}

function listOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
