import { useQuery } from '@apollo/client/react';

import { ModelsDocument } from '../../../api/documents/api.ts';
import { ComfyWorkflowsDocument } from '../../../api/documents/studio.ts';
import { Select, TextArea } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';
import { current } from '../../../work/ending.ts';
import type { Draft } from './draft.ts';
import { Field } from './fields.tsx';

export interface PartProps {
  readonly draft: Draft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (change: Partial<Draft>) => void;
}

/** What is executed: the workflow, its model, the words around the buyer's own. */
export function WorkFields({ draft, problems, onChange }: PartProps) {
  const { workflow, templateType, imageModel, imagePrompt } = draft;
  const { data: comfy } = useQuery(ComfyWorkflowsDocument);
  const { data } = useQuery(ModelsDocument);
  const graphs = comfy?.comfyWorkflows.map(({ name }) => `comfy:${name}`) ?? [];
  const isGraph = workflow.startsWith('comfy:');
  const models = current(data?.models ?? [])
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
          <Select {...common} value={workflow} onChange={({ target }) => choose(target.value)}>
            {unique(['image', 'video', ...graphs, workflow]).map((name) => (
              <option key={name} value={name}>
                {name === 'image' || name === 'video' ? t(`shop.workflow.${name}`) : name}
              </option>
            ))}
          </Select>
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
            >
              <option value="IMAGE">{t('shop.IMAGE')}</option>
              <option value="VIDEO">{t('shop.VIDEO')}</option>
            </Select>
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
            >
              <option value="">{t('shop.usualModel')}</option>
              {unique([...models, imageModel]).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
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
