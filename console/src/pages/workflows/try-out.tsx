import { useMutation } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';

import type { WorkflowPartsFragment } from '../../api/documents/operations.ts';
import { TryWorkflowDocument } from '../../api/documents/workflows.ts';
import type { StoredFile } from '../../api/kiln.ts';
import { isEnded, useLiveTask } from '../../api/live-tasks.ts';
import { sendOnce } from '../../api/send-once.ts';
import { FileField } from '../../library/file-field.tsx';
import { Outcome } from '../../library/result/outcome.tsx';
import { SelectField } from '../../parts/controls/fields.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Field, Input, Label, Select } from '../../parts/looks/inputs.tsx';
import { Card, CardHead, Skeleton } from '../../parts/looks/panels.tsx';
import { Problem } from '../../parts/problem.tsx';
import { stageText } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';
import { defaultText } from './inputs-table.tsx';

type Version = WorkflowPartsFragment['versions'][number];
type Input = Version['inputs'][number];

interface TryOutProps {
  readonly name: string;
  readonly versions: readonly Version[];
}

/** Runs one version with values of one's own, before others do. */
export function TryOut({ name, versions }: TryOutProps) {
  const [number, setNumber] = useState(versions[0]?.number ?? 1);
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({});
  const [run, { data, error, loading }] = useMutation(TryWorkflowDocument);
  const version = versions.find((one) => one.number === number);
  const inputs = version?.inputs ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = { workflowName: name, version: number, inputs: makeInputs(inputs, values) };
    void sendOnce(given, (key) => run({ variables: { input: given, key } })).catch(() => undefined);
  };
  const task = data?.runComfyWorkflow.id;
  return (
    <Card>
      <CardHead title={t('workflows.try')} />
      <form className="p-4 gap-3 flex flex-col min-w-0" onSubmit={submit}>
        {versions.length > 1 && (
          <SelectField
            label={t('workflows.versions')}
            width="w-auto"
            value={number}
            onChange={({ target }) => setNumber(Number(target.value))}
            options={versions.map((one) => [one.number, t('workflows.version', { number: one.number })])}
          />
        )}
        <div className="grid grid-cols-[repeat(auto-fit,minmax(200px,1fr))] gap-4 items-end">
          {inputs.map((input) => (
            <InputField
              key={input.name}
              input={input}
              value={values[input.name]}
              onChange={(value) => setValues((before) => ({ ...before, [input.name]: value }))}
            />
          ))}
        </div>
        {error !== undefined && <Problem error={error} />}
        <Button type="submit" className="self-start" disabled={loading}>
          {t('workflows.run')}
        </Button>
      </form>
      {task !== undefined && <Tried key={task} id={task} name={name} />}
    </Card>
  );
}

function Tried({ id, name }: { readonly id: string; readonly name: string }) {
  const { task, error } = useLiveTask(id);
  if (error !== undefined && task === undefined) return <Problem error={error} />;
  if (task === undefined || task === null) return <Skeleton className="h-80" aria-busy="true" />;
  return <Outcome work={task} stage={isEnded(task) ? '' : stageText(task)} task={task} name={name} />;
}

interface InputFieldProps {
  readonly input: Input;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function InputField({ input, value, onChange }: InputFieldProps) {
  const id = useId();
  const { name, type, minimum, maximum, multipleOf, values } = input;
  if (type === 'FILE') {
    const files = value === undefined || value === null ? [] : [value as StoredFile];
    return (
      <FileField
        label={name}
        accept="image/*,video/*,audio/*"
        most={1}
        files={files}
        onChange={(next) => onChange(next[0] ?? null)}
      />
    );
  }
  const isNumber = type === 'INTEGER' || type === 'NUMBER';
  const text = typeof value === 'string' ? value : '';
  const choices = values ?? (type === 'BOOLEAN' ? ['true', 'false'] : null);
  const own = defaultText(input.default);
  return (
    <Field>
      <Label htmlFor={id}>{name}</Label>
      {choices === null ? (
        <Input
          id={id}
          type={isNumber ? 'number' : 'text'}
          {...(isNumber && { step: type === 'INTEGER' ? (multipleOf ?? 1) : 'any' })}
          {...(minimum !== null && { min: minimum })}
          {...(maximum !== null && { max: maximum })}
          required={input.required}
          placeholder={own}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <Select
          id={id}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          empty={own === '' ? t('workflows.asGraph') : own}
          options={choices.map((one) => [one, one])}
        />
      )}
    </Field>
  );
}

/** What was filled in, as the types of the inputs have it; the rest is as the graph has it. */
function makeInputs(inputs: readonly Input[], values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    inputs.flatMap(({ name, type }) => {
      const value = values[name];
      if (value === undefined || value === null || value === '') return [];
      if (type === 'FILE') return [[name, { fileId: (value as StoredFile).id }]];
      if (type === 'INTEGER' || type === 'NUMBER') return [[name, Number(value)]];
      return [[name, type === 'BOOLEAN' ? value === 'true' : value]];
    }),
  );
}
