import { useQuery } from '@apollo/client/react';
import { useState } from 'react';

import { client } from '../../../../api/client.ts';
import type { FindModelsQuery } from '../../../../api/documents/operations.ts';
import { FindModelsDocument, LearnModelDocument } from '../../../../api/documents/studio.ts';
import { addModel } from '../../../../api/shared-queries.ts';
import { useDebounced } from '../../../../parts/controls/typing.ts';
import { groupLook, listLook, optionLook } from '../../../../parts/looks/choices.tsx';
import { Help } from '../../../../parts/looks/inputs.tsx';
import { Small } from '../../../../parts/looks/lines.tsx';
import { problemText } from '../../../../parts/problem.tsx';
import { t } from '../../../../text/text.ts';
import type { WorkKind } from '../../../../work/kinds.ts';
import { type Choice, makeChoiceKey, type Model } from '../../../../work/work.ts';

interface FoundModelsProps {
  /** What is typed into the search of the list. */
  readonly words: string;
  /** What the model has to make. */
  readonly kind: WorkKind;
  /** The list itself: what is in it is not shown again. */
  readonly choices: readonly Choice[];
  readonly onChoose: (choice: Choice) => void;
}

type Found = FindModelsQuery['findModels'][number];

const REST_MS = 400;
const FEWEST = 3;

/** Models of fal and Replicate beyond the list, by their names there; the vendor is asked what one takes when it is chosen. */
export function FoundModels({ words, kind, choices, onChoose }: FoundModelsProps) {
  const asked = useDebounced(words.trim(), REST_MS);
  const [problem, setProblem] = useState<string | null>(null);
  const isShort = asked.length < FEWEST;
  const { data, loading } = useQuery(FindModelsDocument, { variables: { words: asked }, skip: isShort });
  const known = new Set(choices.map(({ model }) => model.model));
  const found = (data?.findModels ?? []).filter(({ model }) => !known.has(model));
  const choose = async (one: Found): Promise<void> => {
    setProblem(null);
    try {
      const model = await learn(one);
      if (model?.kinds.includes(kind) === true) onChoose({ key: makeChoiceKey(kind, model), kind, model });
      else setProblem(t('find.other', { name: one.name }));
    } catch (refused) {
      setProblem(problemText(refused));
    }
  };
  if (isShort || (found.length === 0 && !loading)) return null;
  return (
    <section
      className={`${listLook} max-h-60 border-t border-line`}
      aria-label={t('find.title')}
      aria-busy={loading}
    >
      <p className={groupLook}>{t('find.title')}</p>
      {loading && <Small as="p">{t('find.searching')}</Small>}
      {problem !== null && (
        <Help bad role="alert">
          {problem}
        </Help>
      )}
      {found.map((one) => (
        <button
          key={one.model}
          type="button"
          className={`${optionLook} grid w-full grid-cols-[32px_minmax(0,1fr)_auto] text-start`}
          onClick={() => void choose(one)}
        >
          <span
            className="w-8 h-8 rounded-control bg-sunken border border-line grid place-items-center text-12 font-semibold flex-none text-muted"
            aria-hidden="true"
          >
            {one.provider.slice(0, 1).toUpperCase()}
          </span>
          <span className="gap-0 flex flex-col min-w-0">
            <span className="truncate font-medium min-w-0">{one.name}</span>
            <Small className="truncate min-w-0">
              {[one.model, one.description].filter(Boolean).join(' · ')}
            </Small>
          </span>
        </button>
      ))}
    </section>
  );
}

/** Has the vendor asked, and the model listed with the others; null: there is none. */
async function learn({ generator, model: name }: Found): Promise<Model | null> {
  const { data } = await client.query({ query: LearnModelDocument, variables: { generator, model: name } });
  const model = data?.model ?? null;
  if (model === null) return null;
  addModel(client, model);
  return model;
}
