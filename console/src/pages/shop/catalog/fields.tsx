import { useQuery } from '@apollo/client/react';
import { type ReactNode, useId } from 'react';

import { ComfyWorkflowsDocument } from '../../../api/documents/studio.ts';
import { useModels } from '../../../api/shared-queries.ts';
import { fieldLook, Help, Label, Input, Select, TextArea } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';
import { current } from '../../../work/model-words.ts';
import type { Draft } from './draft.ts';

interface FieldProps {
  readonly label: string;
  readonly help?: string;
  /** What the server says is wrong with it. */
  readonly problem?: string | undefined;
  readonly optional?: boolean;
  readonly children: (common: {
    readonly id: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string | undefined;
  }) => ReactNode;
}

/** A label, its control, and what there is to say of it. */
export function Field({ label, help, problem, optional = false, children }: FieldProps) {
  const id = useId();
  const note = problem ?? help;
  const noteId = note === undefined ? undefined : `${id}-note`;
  return (
    <div className={fieldLook}>
      <Label htmlFor={id}>
        {label}
        {optional && <span className="font-normal text-faint ml-auto">{t('field.optional')}</span>}
      </Label>
      {children({
        id,
        'aria-invalid': problem !== undefined,
        'aria-describedby': noteId,
      })}
      {note !== undefined && (
        <Help id={noteId} bad={problem !== undefined}>
          {note}
        </Help>
      )}
    </div>
  );
}

/** What it costs: in credits, or a price of its own. `usual` is the currency of those that name none. */
export function PriceFields({ draft, problems, onChange, usual }: PartProps & { readonly usual: string }) {
  const { creditCost, price, currency } = draft;
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-3 items-start">
      <Field label={t('shop.creditCost')} problem={problems['creditCost']}>
        {(common) => (
          <Input
            {...common}
            type="number"
            min={0}
            step={1}
            required
            value={creditCost}
            onChange={({ target }) => onChange({ creditCost: target.value })}
          />
        )}
      </Field>
      <Field label={t('shop.ownPrice')} help={t('shop.ownPriceHelp')} problem={problems['price']}>
        {(common) => (
          <Input
            {...common}
            type="number"
            min={0}
            step="any"
            placeholder={t('shop.byCredits')}
            value={price}
            onChange={({ target }) => onChange({ price: target.value })}
          />
        )}
      </Field>
      <Field label={t('shop.currency')} problem={problems['currency']}>
        {(common) => (
          <Input
            {...common}
            maxLength={3}
            disabled={price.trim() === ''}
            placeholder={usual}
            value={currency}
            onChange={({ target }) => onChange({ currency: target.value })}
          />
        )}
      </Field>
    </div>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (change: Partial<Draft>) => void;
}

/** What is executed: the workflow, its model, the words around the buyer's own. */
export function WorkFields({ draft, problems, onChange }: PartProps) {
  const { workflow, templateType, imageModel, imagePrompt } = draft;
  const { data: comfy } = useQuery(ComfyWorkflowsDocument);
  const { models: all = [] } = useModels().data ?? {};
  const graphs = comfy?.comfyWorkflows.map(({ name }) => `comfy:${name}`) ?? [];
  const isGraph = workflow.startsWith('comfy:');
  const models = current(all)
    .filter(({ kinds }) => kinds.includes(templateType))
    .map(({ model }) => model);
  const choose = (next: string) =>
    onChange({
      workflow: next,
      ...(next === 'image' ? { templateType: 'IMAGE' } : {}),
      ...(next === 'video' ? { templateType: 'VIDEO' } : {}),
      // A model belongs to what it makes.
      ...(next === workflow ? {} : { imageModel: '' }),
    });
  return (
    <>
      <Field label={t('shop.workflow')} help={t('shop.workflowHelp')} problem={problems['workflow']}>
        {(common) => (
          <Select
            {...common}
            value={workflow}
            onChange={({ target }) => choose(target.value)}
            options={unique(['image', 'video', ...graphs, workflow]).map((name) => [
              name,
              name === 'image' || name === 'video' ? t(`shop.workflow.${name}`) : name,
            ])}
          />
        )}
      </Field>
      {isGraph && (
        <Field label={t('models.makes')}>
          {(common) => (
            <Select
              {...common}
              value={templateType}
              onChange={({ target }) =>
                onChange({ templateType: target.value === 'VIDEO' ? 'VIDEO' : 'IMAGE' })
              }
              options={[
                ['IMAGE', t('shop.IMAGE')],
                ['VIDEO', t('shop.VIDEO')],
              ]}
            />
          )}
        </Field>
      )}
      {!isGraph && (
        <Field label={t('studio.model')} problem={problems['imageModel']}>
          {(common) => (
            <Select
              {...common}
              value={imageModel}
              onChange={({ target }) => onChange({ imageModel: target.value })}
              empty={t('shop.usualModel')}
              options={unique([...models, imageModel]).map((name) => [name, name])}
            />
          )}
        </Field>
      )}
      <Field label={t('field.prompt')} help={t('shop.promptHelp')} problem={problems['imagePrompt']}>
        {(common) => (
          <TextArea
            {...common}
            value={imagePrompt}
            onChange={({ target }) => onChange({ imagePrompt: target.value })}
          />
        )}
      </Field>
    </>
  );
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '');
}
