import { useMutation } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';

import { ExecuteTemplateDocument } from '../../api/operations.ts';
import { TemplateFields } from '../../library/template-fields.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { parametersOf, type Values } from '../../work/work.ts';
import type { Template } from './template.ts';

/** Runs a template with its own parameters, and goes to its task. */
export function TemplateForm({ template }: { readonly template: Template }) {
  const navigate = useNavigate();
  const [values, setValues] = useState<Values>({});
  const [run, { error, loading }] = useMutation(ExecuteTemplateDocument);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const variables = {
      code: template.code,
      parameters: parametersOf(values),
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
        <TemplateFields parameters={template.parameters} values={values} onChange={setValues} />
        {error !== undefined && <Problem error={error} />}
        <button type="submit" className="btn pri self-start" disabled={loading}>
          {t('shop.run')}
        </button>
      </form>
    </section>
  );
}
