import { useState } from 'react';

import { ServerWords } from '../../../../parts/server-words.tsx';
import { t } from '../../../../text/text.ts';
import { leavesOf, type OptionField as Field } from '../../../../work/options/fields.ts';
import { countSet, optionProblems } from '../../../../work/options/values.ts';
import { type Choice, optionFields, type Values } from '../../../../work/work.ts';
import { OptionField, type OptionFieldProps } from './option-field.tsx';

interface OptionsFieldsProps {
  readonly choice: Choice;
  readonly values: Values;
  /** What the server says, by member of the input. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (member: string, value: unknown) => void;
}

/** What the model takes besides, made of the schema that the API tells; most of it folded away. */
export function OptionsFields({ choice, values, problems, onChange }: OptionsFieldsProps) {
  const fields = optionFields(choice);
  const own = optionProblems(problems, fields);
  const common = {
    options: values['options'],
    problems: own,
    onChange: (next: unknown) => onChange('options', next),
  };
  return (
    <>
      {fields.first.map((field) => (
        <OptionField key={field.path.join('.')} field={field} {...common} />
      ))}
      {fields.more.length > 0 && <MoreOptions key={choice.key} fields={fields.more} {...common} />}
      {own['options'] !== undefined && (
        <p className="help bad" role="alert">
          <ServerWords text={own['options']} />
        </p>
      )}
    </>
  );
}

/** The rest, folded; how many of them are set is told, and they are open where something in them is wrong. */
function MoreOptions({
  fields,
  ...common
}: Omit<OptionFieldProps, 'field'> & { readonly fields: readonly Field[] }) {
  const set = countSet(common.options, fields);
  const [isOpen, setIsOpen] = useState(set > 0);
  const isWrong = leavesOf(fields).some(({ path }) => ['options', ...path].join('.') in common.problems);
  return (
    <details
      className="more-options"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      // What the browser finds wrong has to be seen too.
      onInvalidCapture={() => setIsOpen(true)}
    >
      <summary>
        {t('options.more')}
        {set > 0 && <span className="c12 faint num"> {t('options.set', { count: set })}</span>}
      </summary>
      <div className="col">
        {fields.map((field) => (
          <OptionField key={field.path.join('.')} field={field} {...common} />
        ))}
      </div>
    </details>
  );
}
