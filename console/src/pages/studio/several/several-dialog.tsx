import { useState } from 'react';

import { Modal } from '../../../parts/controls/modal.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Segments, optionLook } from '../../../parts/looks/choices.tsx';
import { Input } from '../../../parts/looks/inputs.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { Note, SandboxTag } from '../../../parts/looks/panels.tsx';
import { t, textOr } from '../../../text/text.ts';
import { priceText, findRefusal, usualText } from '../../../work/model-words.ts';
import { listMissing, type Choice } from '../../../work/work.ts';
import { type SeveralProps, modelRuns } from './axes.ts';
import { OptionsTab } from './options-tab.tsx';

/** The same on several models, or a sheet of one or two options. */
export function SeveralDialog({ onClose, ...props }: SeveralProps & { readonly onClose: () => void }) {
  const [tab, setTab] = useState<'models' | 'options'>('models');
  const { choice, values } = props;
  const isEmpty = listMissing(choice, values).some((member) => member === 'prompt' || member === 'text');
  return (
    <Modal title={t('several.title')} onClose={onClose} width="w-[min(600px,calc(100vw_-_32px))]">
      <Segments
        className="self-start"
        label={t('several.title')}
        values={['models', 'options'] as const}
        value={tab}
        toText={(one) => t(`several.${one}`)}
        onChoose={setTab}
      />
      {isEmpty && <Note tone="warn">{t('several.needsPrompt')}</Note>}
      {tab === 'models' ? <ModelsTab {...props} /> : <OptionsTab {...props} />}
    </Modal>
  );
}

const LEAST = 2;
const MOST = 4;

/** Chooses from two to four models; each says what it costs and how long it takes. */
function ModelsTab({ choices, choice, values, onRun }: SeveralProps) {
  const [keys, setKeys] = useState<readonly string[]>([choice.key]);
  const [words, setWords] = useState('');
  const chosen = choices.filter(({ key }) => keys.includes(key));
  const found = choices.filter(({ model }) =>
    `${model.name} ${model.provider} ${model.model}`.toLowerCase().includes(words.trim().toLowerCase()),
  );
  const toggle = (key: string) =>
    setKeys((before) => (before.includes(key) ? before.filter((one) => one !== key) : [...before, key]));
  return (
    <>
      <p className="text-muted">{t('several.modelsText', { most: MOST })}</p>
      <Input
        type="search"
        placeholder={t('studio.searchModels', { count: choices.length })}
        aria-label={t('studio.searchModels', { count: choices.length })}
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      <ul className="max-h-[44vh] overflow-y-auto mx-[calc(var(--s-2)_*_-1)] [&_input]:w-4.5 [&_input]:h-4.5 [&_input]:[accent-color:var(--ink)]">
        {found.map((one) => {
          const problem = findProblem(one, values);
          const isChosen = keys.includes(one.key);
          const facts = [one.model.provider, priceText(one.model), usualText(one.model)];
          return (
            <li key={one.key}>
              <label className={`${optionLook} flex`}>
                <input
                  type="checkbox"
                  checked={isChosen}
                  // What was chosen in the form can be left out, also where nothing can be started with it.
                  disabled={!isChosen && (problem !== null || keys.length >= MOST)}
                  onChange={() => toggle(one.key)}
                />
                <span className="gap-0 flex flex-col flex-1 min-w-0">
                  <span className="truncate font-medium min-w-0">{one.model.name}</span>
                  <Small>{problem ?? facts.filter((fact) => fact !== null).join(' · ')}</Small>
                </span>
                {one.model.sandbox && <SandboxTag />}
              </label>
            </li>
          );
        })}
      </ul>
      <Button
        kind="primary"
        size="large"
        disabled={chosen.length < LEAST || chosen.some((one) => findProblem(one, values) !== null)}
        onClick={() => onRun(modelRuns(chosen, values, crypto.randomUUID()))}
      >
        {t('several.runModels', { count: chosen.length })}
      </Button>
    </>
  );
}

/** Why this model would refuse the form; null when it takes it. */
function findProblem(choice: Choice, values: SeveralProps['values']): string | null {
  const refusal = findRefusal(choice.model);
  if (refusal !== null) return refusal;
  const missing = listMissing(choice, values).filter((member) => member !== 'prompt' && member !== 'text');
  if (missing.length === 0) return null;
  return t('studio.missing', { fields: missing.map((one) => textOr(`field.${one}`, one)).join(', ') });
}
