import { useQuery } from '@apollo/client/react';
import { useId } from 'react';

import { ComfyWorkflowsDocument } from '../../../api/documents/studio.ts';
import { AnyFileField } from '../../../library/file-field.tsx';
import { SelectField } from '../../../parts/controls/fields.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t, textOr } from '../../../text/text.ts';
import { toText, type Choice, type Values } from '../../../work/work.ts';
import { ChoiceField, NumberField, TextAreaField, TextField } from './controls.tsx';

/** Options of a form's fields. */
export interface FieldProps {
  readonly choice: Choice;
  readonly member: string;
  readonly values: Values;
  readonly problem: string | undefined;
  readonly onChange: (member: string, value: unknown) => void;
}

/** An input of a workflow, as the API describes it. */
interface ComfyInput {
  readonly type: 'text' | 'integer' | 'number' | 'file' | 'boolean';
  readonly required: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly values?: readonly string[];
  readonly description?: string;
}

/** The bundled ComfyUI workflows, and one field for every input that the chosen one has. */
export function ComfyFields({ values, onChange }: FieldProps) {
  const { data, error } = useQuery(ComfyWorkflowsDocument);
  if (error !== undefined) return <Problem error={error} />;
  const workflows = data?.comfyWorkflows ?? [];
  const chosen = workflows.find(({ name }) => name === values['workflowName']);
  const inputs = Object.entries((chosen?.inputs ?? {}) as Record<string, ComfyInput>);
  return (
    <>
      <SelectField
        label={t('field.workflowName')}
        value={chosen?.name ?? ''}
        onChange={({ target }) => onChange('workflowName', target.value)}
        empty={t('comfy.choose')}
        options={workflows.map(({ name, category }) => [name, `${name} (${category})`])}
      />
      {inputs.map(([name, input]) => (
        <ComfyField
          key={name}
          name={name}
          input={input}
          value={values[`comfy.${name}`]}
          onChange={(next) => onChange(`comfy.${name}`, next)}
        />
      ))}
    </>
  );
}

interface ComfyFieldProps {
  readonly name: string;
  readonly input: ComfyInput;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function ComfyField({ name, input, value, onChange }: ComfyFieldProps) {
  const id = useId();
  const label = textOr(`field.${name}`, name);
  const common = { id, label, problem: undefined, onChange };
  const { minimum, maximum } = input;
  switch (input.type) {
    case 'file': {
      return <AnyFileField label={label} value={value} onChange={onChange} />;
    }
    case 'integer':
    case 'number': {
      const range = minimum === undefined || maximum === undefined ? null : ([minimum, maximum] as const);
      return (
        <NumberField
          {...common}
          value={value ?? input.default}
          range={range}
          step={input.type === 'integer' ? 1 : 'any'}
        />
      );
    }
    default:
      if (input.values !== undefined) return <ChoiceField {...common} value={value} values={input.values} />;
      if (name === 'prompt') return <TextAreaField {...common} value={toText(value)} most={null} />;
      return (
        <TextField
          {...common}
          value={toText(value ?? input.default)}
          note={input.required ? '' : t('field.optional')}
        />
      );
  }
}
