import { useMutation } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';

import { ExecuteTemplateDocument } from '../../api/operations.ts';
import { Problem } from '../../parts/problem.tsx';
import { t, textOr } from '../../text/text.ts';
import type { Template } from './template.ts';

/** A parameter of a template, as the API describes it. */
interface Parameter {
  readonly type: string;
  readonly required?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
}

/** Runs a template with its own parameters, and goes to its task. */
export function TemplateForm({ template }: { readonly template: Template }) {
  const navigate = useNavigate();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [run, { error, loading }] = useMutation(ExecuteTemplateDocument);
  const parameters = Object.entries(template.parameters as Record<string, Parameter>);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const filled = parameters.flatMap(([name, parameter]) => {
      const text = values[name] ?? '';
      return text === '' ? [] : [[name, isNumber(parameter) ? Number(text) : text] as const];
    });
    const variables = {
      code: template.code,
      parameters: Object.fromEntries(filled),
      key: crypto.randomUUID(),
    };
    run({ variables }).then(
      ({ data }) => {
        const id = data?.executeTemplate.taskId;
        if (id !== undefined) void navigate({ to: '/tasks/$id', params: { id } });
      },
      () => undefined,
    );
  };
  return (
    <section className="card">
      <header>
        <h2>{template.name}</h2>
      </header>
      <form className="pad col gap-3" onSubmit={submit}>
        {parameters.map(([name, parameter]) => (
          <ParameterField
            key={name}
            name={name}
            parameter={parameter}
            value={values[name] ?? ''}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        {error !== undefined && <Problem error={error} />}
        <button type="submit" className="btn pri self-start" disabled={loading}>
          {t('shop.run')}
        </button>
      </form>
    </section>
  );
}

interface ParameterFieldProps {
  readonly name: string;
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ name, parameter, value, onChange }: ParameterFieldProps) {
  const id = useId();
  const { required = false, minimum, maximum, maxLength, description } = parameter;
  const common = { id, className: 'in', value, required, placeholder: placeholderOf(parameter) };
  return (
    <div className="field">
      <label htmlFor={id}>
        {textOr(`field.${name}`, name)}
        {!required && <span className="push faint font-normal">{t('field.optional')}</span>}
      </label>
      {name === 'prompt' ? (
        <textarea {...common} maxLength={maxLength} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          {...common}
          type={isNumber(parameter) ? 'number' : 'text'}
          min={minimum}
          max={maximum}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {description !== undefined && <p className="help">{description}</p>}
    </div>
  );
}

function isNumber({ type }: Parameter): boolean {
  return type === 'integer' || type === 'number';
}

function placeholderOf({ default: usual }: Parameter): string {
  return typeof usual === 'string' || typeof usual === 'number' ? String(usual) : '';
}
