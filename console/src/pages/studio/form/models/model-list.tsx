import { Combobox } from '@base-ui/react/combobox';
import { useState } from 'react';

import { groupLook, listLook, optionLook, pickerLook, placeLook } from '../../../../parts/looks/choices.tsx';
import { inputLook } from '../../../../parts/looks/inputs.tsx';
import { Small } from '../../../../parts/looks/lines.tsx';
import { SandboxTag } from '../../../../parts/looks/panels.tsx';
import { providerName } from '../../../../parts/provider-name.ts';
import { t } from '../../../../text/text.ts';
import { priceText, findRefusal, usualText } from '../../../../work/model-words.ts';
import type { Choice } from '../../../../work/work.ts';
import {
  ChosenModel,
  chosenLook,
  EndTag,
  Glyph,
  pickerLabel,
  type ModelPickerProps,
} from './chosen-model.tsx';
import { FoundModels } from './found-models.tsx';

interface Group {
  readonly value: string;
  readonly items: readonly Choice[];
}

/** Providers that have more models than any list. */
const ANY_MODEL: ReadonlySet<string> = new Set(['fal', 'replicate']);

/** The button and what it opens, which is open when it is first drawn. Loaded when somebody is about to choose. */
export function ModelList({ choices, chosen, onChoose }: ModelPickerProps) {
  const [isOpen, setOpen] = useState(true);
  const [words, setWords] = useState('');
  // Only generators of these take models that the list lacks.
  const hasMore = choices.some(({ model }) => ANY_MODEL.has(model.provider));
  return (
    <Combobox.Root
      open={isOpen}
      onOpenChange={setOpen}
      onInputValueChange={setWords}
      items={groupChoices(choices)}
      value={chosen}
      onValueChange={(choice) => choice !== null && onChoose(choice)}
      isItemEqualToValue={(one, other) => one.key === other.key}
      itemToStringLabel={searchText}
    >
      <Combobox.Trigger className={chosenLook} aria-label={pickerLabel(chosen)}>
        <ChosenModel choice={chosen} />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} align="start" className={placeLook}>
          <Combobox.Popup
            data-picker
            className={`${pickerLook} sm:w-[min(480px,calc(100vw-24px))]`}
            aria-label={t('studio.chooseModel')}
          >
            <PickerList count={choices.length} />
            {hasMore && isOpen && (
              <FoundModels
                words={words}
                kind={chosen.kind}
                choices={choices}
                onChoose={(choice) => {
                  setOpen(false);
                  onChoose(choice);
                }}
              />
            )}
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

function PickerList({ count }: { readonly count: number }) {
  return (
    <>
      <div className="p-4">
        <Combobox.Input
          className={`${inputLook()} pl-8`}
          placeholder={t('studio.searchModels', { count })}
          aria-label={t('studio.searchModels', { count })}
        />
      </div>
      <Combobox.Empty className="text-muted [&:not(:empty)]:p-4">{t('studio.noModel')}</Combobox.Empty>
      <Combobox.List
        className={`${listLook} max-h-[min(424px,var(--available-height)-80px)] max-sm:max-h-none`}
      >
        {({ value, items }: Group) => (
          <Combobox.Group key={value} items={items}>
            <Combobox.GroupLabel className={groupLook}>{value}</Combobox.GroupLabel>
            <Combobox.Collection>
              {(choice: Choice) => <ModelOption key={choice.key} choice={choice} />}
            </Combobox.Collection>
          </Combobox.Group>
        )}
      </Combobox.List>
    </>
  );
}

/** A model that can be chosen; one that can not says why, and what to use instead. */
function ModelOption({ choice }: { readonly choice: Choice }) {
  const { model } = choice;
  const refusal = findRefusal(model);
  return (
    <Combobox.Item
      value={choice}
      className={`${optionLook} grid grid-cols-[32px_minmax(0,1fr)_auto]`}
      disabled={refusal !== null}
    >
      <Glyph choice={choice} />
      <span className="gap-0 flex flex-col min-w-0">
        <span className="truncate font-medium min-w-0">{model.name}</span>
        <Small>{refusal ?? factsText(choice)}</Small>
      </span>
      <span className="flex flex-col items-end gap-1 text-right tabular-nums">
        <EndTag model={model} />
        {model.sandbox && <SandboxTag />}
      </span>
    </Combobox.Item>
  );
}

/** By kind and provider; those that can not be used come last. */
function groupChoices(choices: readonly Choice[]): Group[] {
  const sorted = choices.toSorted(
    (one, other) => Number(findRefusal(one.model) !== null) - Number(findRefusal(other.model) !== null),
  );
  const groups = Map.groupBy(
    sorted,
    ({ kind, model }) => `${t(`kind.${kind}`)} · ${providerName(model.provider)}`,
  );
  return [...groups].map(([value, items]) => ({ value, items }));
}

function searchText({ model }: Choice): string {
  return `${model.name} ${model.generator} ${model.provider} ${model.model}`;
}

function factsText({ model }: Choice): string {
  const facts = [
    priceText(model),
    usualText(model),
    model.generator,
    model.aspectRatios === null ? null : t('studio.ratios', { count: model.aspectRatios.length }),
    model.durations === null ? null : t('time.seconds', { seconds: model.durations.join(', ') }),
    model.maxImages === null ? null : t('studio.references', { count: model.maxImages }),
  ];
  return facts.filter((fact) => fact !== null).join(' · ');
}
