import type { ReactNode } from 'react';

import { Field, Help, Label } from '../../../../parts/looks/inputs.tsx';
import { Figures, Row } from '../../../../parts/looks/lines.tsx';
import { ServerWords } from '../../../../parts/problem.tsx';
import { t, textOr } from '../../../../text/text.ts';
import type { OptionField } from '../../../../work/options/fields.ts';

/** What every control of an option is given. */
export interface OptionProps {
  readonly id: string;
  readonly field: OptionField;
  readonly value: unknown;
  readonly problem: string | undefined;
  /** Null leaves it to the model. */
  readonly onChange: (value: unknown) => void;
}

interface FrameProps extends OptionProps {
  /** What it takes, beside its name. */
  readonly note?: string;
  /** The control stands beside the name. */
  readonly beside?: ReactNode;
  readonly children?: ReactNode;
}

/** A control with its name, what its vendor says of it, the way back to the model's default, and what is wrong. */
export function OptionFrame({ id, field, value, problem, note, beside, children, onChange }: FrameProps) {
  const name = nameOption(field);
  return (
    <Field>
      <Row>
        <Label htmlFor={id} title={field.path.join('.')}>
          <Name {...name} />
        </Label>
        <Row as="span" className="ml-auto">
          {value === undefined ? (
            note !== undefined && (
              <Figures tone="faint" small>
                {note}
              </Figures>
            )
          ) : (
            <button
              type="button"
              className="link text-12 font-normal"
              aria-label={t('options.resetOne', { name: name.text })}
              onClick={() => onChange(null)}
            >
              {t('options.reset')}
            </button>
          )}
          {beside}
        </Row>
      </Row>
      {children}
      {field.description !== null && (
        <Help id={`${id}-help`}>
          <ServerWords text={field.description} />
        </Help>
      )}
      <OptionProblem id={id} problem={problem} />
    </Field>
  );
}

/** A name of ours, or a vendor's, which is English. */
export function Name({ text, isOurs }: ReturnType<typeof nameOption>) {
  return isOurs ? text : <ServerWords text={text} />;
}

/** What the server says against the value. */
function OptionProblem({ id, problem }: Pick<OptionProps, 'id' | 'problem'>) {
  if (problem === undefined) return null;
  return (
    <Help bad id={`${id}-problem`} role="alert">
      <ServerWords text={problem} />
    </Help>
  );
}

/** What a control is described by. */
export function describedBy({ id, field, problem }: Pick<OptionProps, 'id' | 'field' | 'problem'>) {
  const parts = [
    ...(field.description === null ? [] : [`${id}-help`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ];
  return {
    ...(parts.length === 0 ? {} : { 'aria-describedby': parts.join(' ') }),
    ...(problem === undefined ? {} : { 'aria-invalid': true }),
  };
}

/** What an option is called; `isOurs` tells whether in the reader's language or in the vendor's words. */
export function nameOption({ path, title }: OptionField): {
  readonly text: string;
  readonly isOurs: boolean;
} {
  const name = path.at(-1) ?? '';
  const own = textOr(`option.${name}`, '');
  return own === '' ? { text: title ?? spaced(name), isOurs: false } : { text: own, isOurs: true };
}

/** A value of the vendor in words, where there are some. */
export function toWords(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return textOr(`value.${text}`, text);
}

/** What the vendor takes where nothing is set; empty when that is not told. */
export function standardText({ standard }: OptionField): string {
  if (standard === undefined || standard === null || standard === '') return t('field.default');
  return t('options.default', { value: toWords(standard) });
}

/** snake_case and camelCase as words. */
function spaced(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
