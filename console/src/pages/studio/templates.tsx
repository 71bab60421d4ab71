import { useQuery } from '@apollo/client/react';
import { useState } from 'react';

import { ShopDocument } from '../../api/documents/shop.ts';
import { TemplateFields } from '../../library/template-fields.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Small } from '../../parts/looks/lines.tsx';
import { choiceLook, sideFieldsLook, sideFormLook } from '../../parts/looks/panels.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Draft, readDraft, setDraft } from '../../work/keeper.ts';
import type { Model, Values } from '../../work/work.ts';
import { Canvas } from './canvas/canvas.tsx';
import { useActions, type Submission, useSubmission } from './use-studio.ts';

/** The templates of the catalog as cards; the chosen one has its own form. */
export function Templates({ models }: { readonly models: readonly Model[] }) {
  const { data, error } = useQuery(ShopDocument);
  const [draft, showDraft] = useState<Draft>(() => readDraft('templates') ?? { key: '', values: {} });
  const submission = useSubmission();
  const keep = (next: Draft) => {
    setDraft('templates', next);
    showDraft(next);
    submission.reset();
  };
  const { remix, again, vary } = useActions('templates', models, submission, keep);
  const templates = data?.templatesConnection.edges.map(({ node }) => node) ?? [];
  const chosen = templates.find(({ code }) => code === draft.key);
  return (
    <>
      <div data-studio-form className={sideFormLook} role="group" aria-label={t('studio.templates')}>
        <div data-fields className={sideFieldsLook}>
          {error !== undefined && <Problem error={error} />}
          {data !== undefined && templates.length === 0 && <Empty title={t('shop.none')} />}
          <p className="text-muted">{t('studio.templateText')}</p>
          <ul className="flex flex-col gap-2 min-w-0">
            {templates.map(({ code, name, description }) => (
              <li key={code} className="gap-3 flex flex-col min-w-0">
                <button
                  type="button"
                  className={`${choiceLook} items-center`}
                  aria-pressed={code === draft.key}
                  onClick={() => keep({ key: code === draft.key ? '' : code, values: {} })}
                >
                  <span className="gap-1 flex flex-col min-w-0">
                    <span className="font-medium">{name}</span>
                    <span className="text-muted">{description}</span>
                  </span>
                </button>
                {code === chosen?.code && (
                  <ChosenForm
                    template={chosen}
                    values={draft.values}
                    submission={submission}
                    onChange={(values) => keep({ key: code, values })}
                  />
                )}
              </li>
            ))}
          </ul>
        </div>
      </div>
      {/* On phones it is below the cards, which would push it down. */}
      {(data !== undefined || error !== undefined) && (
        <Canvas onRemix={remix} onAgain={again} onVary={vary} onIdea={undefined} />
      )}
    </>
  );
}

interface ChosenFormProps {
  readonly template: {
    readonly code: string;
    readonly name: string;
    readonly templateType: 'IMAGE' | 'VIDEO';
    readonly creditCost: number;
    readonly parameters: unknown;
  };
  readonly values: Values;
  readonly submission: Submission;
  readonly onChange: (values: Values) => void;
}

function ChosenForm({ template, values, submission, onChange }: ChosenFormProps) {
  const { code, name, templateType, creditCost, parameters } = template;
  return (
    <form
      className="gap-3 flex flex-col min-w-0"
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault();
        void submission.runTemplate({ kind: templateType, modelName: name, template: code }, values);
      }}
    >
      <TemplateFields parameters={parameters} values={values} onChange={onChange} />
      {submission.error !== null && <Problem error={submission.error} />}
      <Small as="p">{t('shop.credits', { count: creditCost })}</Small>
      <Button type="submit" kind="primary" size="large" className="w-full" disabled={submission.isSending}>
        {t(submission.isSending ? 'studio.sending' : 'studio.makeOne')}
      </Button>
    </form>
  );
}
