import { useId } from 'react';

import { MOST_TYPED } from '../parts/controls/typing.ts';
import { Field, Help, Input, Label, Select, TextArea } from '../parts/looks/inputs.tsx';
import { t, textOr } from '../text/text.ts';
import { toText, type Values } from '../work/work.ts';
import { AnyFileField } from './file-field.tsx';

/** A parameter of a template, as the API describes it. */
interface Parameter {
  readonly type: string;
  readonly required?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly values?: readonly string[];
  readonly default?: unknown;
  /** Shown where the console has no text for the parameter's name. */
  readonly description?: string;
}

interface TemplateFieldsProps {
  /** `Template.parameters`. */
  readonly parameters: unknown;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** One field for every parameter of a template. */
export function TemplateFields({ parameters, values, onChange }: TemplateFieldsProps) {
  return inOrder(parameters as Record<string, Parameter>).map(([name, parameter]) => (
    <ParameterField
      key={name}
      name={name}
      parameter={parameter}
      value={values[name]}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ));
}

/** The prompt, then what is needed, then the rest: the database keeps no order. */
function inOrder(parameters: Record<string, Parameter>): readonly [string, Parameter][] {
  const rank = ([name, { required = false }]: [string, Parameter]) =>
    name === 'prompt' ? 0 : required ? 1 : 2;
  return Object.entries(parameters).toSorted((one, other) => rank(one) - rank(other));
}

interface ParameterFieldProps {
  readonly name: string;
  readonly parameter: Parameter;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function ParameterField({ name, parameter, value, onChange }: ParameterFieldProps) {
  const id = useId();
  const { type, required = false, description = '' } = parameter;
  const label = textOr(`field.${name}`, name);
  const help = textOr(`parameter.${name}`, description);
  if (type === 'url' || type === 'file') {
    return <AnyFileField label={label} value={value} onChange={onChange} />;
  }
  return (
    <Field>
      <Label htmlFor={id}>
        {label}
        {!required && <span className="font-normal text-faint ml-auto">{t('field.optional')}</span>}
      </Label>
      <Control id={id} name={name} parameter={parameter} value={value} onChange={onChange} />
      {help !== '' && <Help>{help}</Help>}
    </Field>
  );
}

function Control({ id, name, parameter, value, onChange }: ParameterFieldProps & { readonly id: string }) {
  const { type, required = false, minimum, maximum, multipleOf, maxLength = MOST_TYPED, values } = parameter;
  const common = { id, required, placeholder: toText(parameter.default) };
  if (values !== undefined) {
    return (
      <Select
        {...common}
        value={toText(value)}
        onChange={({ target }) => onChange(target.value)}
        empty={t('field.default')}
        options={values.map((one) => [one, textOr(`value.${one}`, one)])}
      />
    );
  }
  if (name === 'prompt') {
    return (
      <TextArea
        {...common}
        value={toText(value)}
        maxLength={maxLength}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  const isNumber = type === 'integer' || type === 'number';
  return (
    <Input
      {...common}
      type={isNumber ? 'number' : 'text'}
      min={minimum}
      max={maximum}
      step={multipleOf ?? (type === 'number' ? 'any' : undefined)}
      maxLength={maxLength}
      value={toText(value)}
      onChange={({ target }) =>
        onChange(isNumber ? (target.value === '' ? null : target.valueAsNumber) : target.value)
      }
    />
  );
}
