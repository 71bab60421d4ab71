import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';

import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import {
  CatalogDocument,
  CatalogStateDocument,
  CreateTemplateDocument,
  ShopDocument,
  UnrunnableDocument,
  UpdateTemplateDocument,
} from '../../../api/documents/shop.ts';
import { Button } from '../../../parts/looks/button.tsx';
import { Check, Input, TextArea } from '../../../parts/looks/inputs.tsx';
import { Row } from '../../../parts/looks/lines.tsx';
import { cardLook } from '../../../parts/looks/panels.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { type Draft, makeDraft, makeInput } from './draft.ts';
import { Field, PriceFields, WorkFields } from './fields.tsx';

const REFETCHED = [CatalogDocument, ShopDocument, UnrunnableDocument, CatalogStateDocument];

interface TemplateEditorProps {
  /** The one that is changed; null for a new one. */
  readonly template: CatalogPartsFragment | null;
  readonly onSaved: (code: string) => void;
}

/** The form of a template: what it is called, what it runs, what it costs. */
export function TemplateEditor({ template, onSaved }: TemplateEditorProps) {
  const [draft, setDraft] = useState<Draft>(() => makeDraft(template));
  const [isSaved, setSaved] = useState(false);
  const [create, created] = useMutation(CreateTemplateDocument, { refetchQueries: REFETCHED });
  const [update, updated] = useMutation(UpdateTemplateDocument, { refetchQueries: REFETCHED });
  const error = created.error ?? updated.error;
  const problems = listProblems(error);
  const usual = template?.currency === null ? (template.salePrice?.currency ?? 'usd') : 'usd';
  const change = (part: Partial<Draft>) => {
    setSaved(false);
    setDraft({ ...draft, ...part });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const input = makeInput(draft, usual);
    const saving =
      template === null
        ? create({ variables: { input: { ...input, code: draft.code.trim() } } })
        : update({ variables: { code: template.code, change: { ...input, isActive: draft.isActive } } });
    saving.then(
      () => {
        setSaved(true);
        onSaved(template?.code ?? draft.code.trim());
      },
      () => undefined,
    );
  };
  const parts = { draft, problems, onChange: change };
  return (
    <form className={cardLook} aria-label={t('shop.template')} onSubmit={submit}>
      <div className="p-4 gap-3 flex flex-col min-w-0">
        {template === null && (
          <Field label={t('shop.code')} help={t('shop.codeHelp')} problem={problems['code']}>
            {(common) => (
              <Input
                {...common}
                required
                pattern="[A-Za-z0-9_\-]{1,64}"
                value={draft.code}
                onChange={({ target }) => change({ code: target.value })}
              />
            )}
          </Field>
        )}
        <Naming {...parts} />
        <WorkFields {...parts} />
        <PriceFields {...parts} usual={usual} />
        {template !== null && (
          <label className="flex items-center gap-2 min-w-0">
            <Check checked={draft.isActive} onChange={({ target }) => change({ isActive: target.checked })} />
            {t('shop.isActive')}
          </label>
        )}
        {error !== undefined && <Problem error={error} />}
        <Row>
          <Button type="submit" kind="primary" disabled={created.loading || updated.loading}>
            {t(template === null ? 'shop.create' : 'shop.save')}
          </Button>
          <span role="status" className="text-muted">
            {isSaved && t('shop.saved')}
          </span>
        </Row>
      </div>
    </form>
  );
}

type NamingProps = Parameters<typeof WorkFields>[0];

/** What it is called and found by. */
function Naming({ draft, problems, onChange }: NamingProps) {
  return (
    <>
      <Field label={t('field.name')} problem={problems['name']}>
        {(common) => (
          <Input
            {...common}
            required
            value={draft.name}
            onChange={({ target }) => onChange({ name: target.value })}
          />
        )}
      </Field>
      <Field label={t('shop.description')} problem={problems['description']} optional>
        {(common) => (
          <TextArea
            {...common}
            short
            value={draft.description}
            onChange={({ target }) => onChange({ description: target.value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-3 items-start">
        <Field label={t('shop.tags')} help={t('shop.tagsHelp')} problem={problems['tags']} optional>
          {(common) => (
            <Input
              {...common}
              value={draft.tags}
              onChange={({ target }) => onChange({ tags: target.value })}
            />
          )}
        </Field>
        <Field label={t('shop.version')} problem={problems['version']} optional>
          {(common) => (
            <Input
              {...common}
              value={draft.version}
              onChange={({ target }) => onChange({ version: target.value })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

/** What the server says of single fields. */
function listProblems(error: unknown): Readonly<Record<string, string>> {
  if (!CombinedGraphQLErrors.is(error)) return {};
  return Object.fromEntries(
    error.errors.flatMap(({ message, extensions }) => {
      const field = extensions?.['field'];
      return typeof field === 'string' ? [[field, message] as const] : [];
    }),
  );
}
