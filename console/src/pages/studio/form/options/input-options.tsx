import { useState } from 'react';

import { MOST_TYPED } from '../../../../parts/controls/typing.ts';
import { Input, TextArea } from '../../../../parts/looks/inputs.tsx';
import { Row } from '../../../../parts/looks/lines.tsx';
import { t } from '../../../../text/text.ts';
import type { Control } from '../../../../work/options/control.ts';
import { describedBy, OptionFrame, type OptionProps, nameOption, standardText } from './option-frame.tsx';

type NumberControl = Extract<Control, { readonly kind: 'range' | 'number' }>;

/** A number; between two bounds a slider too. Empty leaves it to the model. */
export function NumberOption(props: OptionProps & { readonly control: NumberControl }) {
  const { id, field, value, control, onChange } = props;
  const { least, most } = control;
  const { standard } = field;
  const take = (target: HTMLInputElement) => onChange(target.value === '' ? null : target.valueAsNumber);
  return (
    <OptionFrame
      {...props}
      note={boundsText(control) ?? (props.field.isRequired === true ? '' : t('field.optional'))}
    >
      <Row>
        {control.kind === 'range' && (
          <input
            type="range"
            className="flex-1 min-w-0 h-(--control-sm) [accent-color:var(--ink)]"
            aria-label={t('options.slider', { name: nameOption(field).text })}
            min={least}
            max={most}
            step={control.step}
            value={Number(value ?? standard ?? nearestToZero(control.least, control.most))}
            onChange={({ target }) => take(target)}
          />
        )}
        <Input
          id={id}
          width={control.kind === 'range' ? 'w-22 flex-none' : undefined}
          type="number"
          min={least}
          max={most}
          // A finer number than a slider's step is no mistake.
          step={Number.isInteger(control.step) ? control.step : 'any'}
          placeholder={typeof standard === 'number' ? String(standard) : ''}
          title={standardText(field)}
          value={typeof value === 'number' ? value : ''}
          onChange={({ target }) => take(target)}
          {...describedBy(props)}
        />
      </Row>
    </OptionFrame>
  );
}

/** Where a slider stands that nobody has moved, of a model that tells no default. */
function nearestToZero(least: number, most: number): number {
  return Math.min(Math.max(0, least), most);
}

function boundsText({ least, most }: NumberControl): string | null {
  if (least !== undefined && most !== undefined) return t('field.range', { from: least, to: most });
  if (least !== undefined) return t('options.atLeast', { from: least });
  return most === undefined ? null : t('options.atMost', { to: most });
}

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
  const shown = parseList(text).join('\n') === lines ? text : lines;
  return (
    <OptionFrame {...props} note={t('options.lines')}>
      <TextArea
        id={id}
        short
        value={shown}
        onChange={({ target }) => {
          setText(target.value);
          const list = parseList(target.value);
          onChange(list.length === 0 ? null : list);
        }}
        {...describedBy(props)}
      />
    </OptionFrame>
  );
}

function parseList(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
