import { useState } from 'react';

import { Help } from '../../../../parts/looks/inputs.tsx';
import { Figures } from '../../../../parts/looks/lines.tsx';
import { ServerWords } from '../../../../parts/problem.tsx';
import { t } from '../../../../text/text.ts';
import {
  listLeaves,
  type OptionField as Field,
  type OptionFields,
  countSet,
  optionProblems,
} from '../../../../work/options/fields.ts';
import { OptionField, type OptionFieldProps } from './option-field.tsx';

interface OptionsFieldsProps {
  readonly fields: OptionFields;
  /** What they are of: others begin folded. */
  readonly of: string;
  /** What is set. */
  readonly options: unknown;
  /** What the server says, by member of the input. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (options: unknown) => void;
}

/** What the model takes besides, made of the schema that the API tells; most of it folded away. */
export function OptionsFields({ fields, of, options, problems, onChange }: OptionsFieldsProps) {
  const own = optionProblems(problems, fields);
  const common = { options, problems: own, onChange };
  return (
    <>
      {fields.first.map((field) => (
        <OptionField key={field.path.join('.')} field={field} {...common} />
      ))}
      {fields.more.length > 0 && <MoreOptions key={of} fields={fields.more} {...common} />}
      {own['options'] !== undefined && (
        <Help bad role="alert">
          <ServerWords text={own['options']} />
        </Help>
      )}
    </>
  );
}

/**
 * The rest, folded; how many of them are set is told, and they are open where something in them is wrong. They are made when
 * they are first unfolded.
 */
function MoreOptions({
  fields,
  ...common
}: Omit<OptionFieldProps, 'field'> & { readonly fields: readonly Field[] }) {
  const set = countSet(common.options, fields);
  const [isOpen, setIsOpen] = useState(set > 0);
  const [wasOpen, setWasOpen] = useState(isOpen);
  const isWrong = listLeaves(fields).some(({ path }) => ['options', ...path].join('.') in common.problems);
  return (
    <details
      data-more-options
      className="[&>summary]:min-h-(--control-sm) [&>summary]:leading-[var(--control-sm)] [&>summary]:text-13 [&>summary]:font-medium [&>summary]:text-muted [&>summary]:cursor-pointer"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => {
        setIsOpen(currentTarget.open);
        if (currentTarget.open) setWasOpen(true);
      }}
      // What the browser finds wrong has to be seen too.
      onInvalidCapture={() => setIsOpen(true)}
    >
      <summary>
        {t('options.more')}
        {set > 0 && (
          <Figures tone="faint" small>
            {' '}
            {t('options.set', { count: set })}
          </Figures>
        )}
      </summary>
      {(wasOpen || isWrong) && (
        <div className="flex min-w-0 flex-col gap-5 pt-4">
          {fields.map((field) => (
            <OptionField key={field.path.join('.')} field={field} {...common} />
          ))}
        </div>
      )}
    </details>
  );
}
