import { Combobox } from '@base-ui/react/combobox';

import { Icon } from '../../../parts/icons.tsx';
import { SandboxTag } from '../../../parts/sandbox-tag.tsx';
import { t } from '../../../text/text.ts';
import type { Choice } from '../../../work/work.ts';

/** Options of the picker. */
interface ModelPickerProps {
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly onChoose: (choice: Choice) => void;
}

interface Group {
  readonly value: string;
  readonly items: readonly Choice[];
}

/** Chooses a model of the API's list, by kind of work where a tab has several; searchable, by keyboard too. */
export function ModelPicker({ choices, chosen, onChoose }: ModelPickerProps) {
  return (
    <div className="field">
      <span className="lab">{t('studio.model')}</span>
      <Combobox.Root
        items={groupsOf(choices)}
        value={chosen}
        onValueChange={(choice) => choice !== null && onChoose(choice)}
        isItemEqualToValue={(one, other) => one.key === other.key}
        itemToStringLabel={searchText}
      >
        <Combobox.Trigger className="model" aria-label={`${t('studio.model')}: ${chosen.model.name}`}>
          <Glyph choice={chosen} />
          <span className="grow">
            <span className="med cut block">{chosen.model.name}</span>
            <span className="c12 mute cut block">{chosen.model.generator}</span>
          </span>
          {chosen.model.sandbox && <SandboxTag />}
          <Icon name="down" />
        </Combobox.Trigger>
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} align="start" className="picker-place">
            <Combobox.Popup className="picker" aria-label={t('studio.chooseModel')}>
              <PickerList count={choices.length} />
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </div>
  );
}

function PickerList({ count }: { readonly count: number }) {
  return (
    <>
      <div className="find pad">
        <Combobox.Input
          className="in"
          placeholder={t('studio.searchModels', { count })}
          aria-label={t('studio.searchModels', { count })}
        />
      </div>
      <Combobox.Empty className="mute pick-none">{t('studio.noModel')}</Combobox.Empty>
      <Combobox.List className="list">
        {({ value, items }: Group) => (
          <Combobox.Group key={value} items={items}>
            <Combobox.GroupLabel className="g">{value}</Combobox.GroupLabel>
            <Combobox.Collection>
              {(choice: Choice) => (
                <Combobox.Item key={choice.key} value={choice} className="opt">
                  <Glyph choice={choice} />
                  <span className="col gap-0">
                    <span className="cut med">{choice.model.name}</span>
                    <span className="c12 mute cut">{factsOf(choice)}</span>
                  </span>
                  <span className="price">{choice.model.sandbox && <SandboxTag />}</span>
                </Combobox.Item>
              )}
            </Combobox.Collection>
          </Combobox.Group>
        )}
      </Combobox.List>
    </>
  );
}

function Glyph({ choice: { model } }: { readonly choice: Choice }) {
  return (
    <span className="glyph" aria-hidden="true">
      {model.provider.slice(0, 1).toUpperCase()}
    </span>
  );
}

function groupsOf(choices: readonly Choice[]): Group[] {
  const groups = Map.groupBy(choices, ({ kind, model }) => `${t(`kind.${kind}`)} · ${model.provider}`);
  return [...groups].map(([value, items]) => ({ value, items }));
}

function searchText({ model }: Choice): string {
  return `${model.name} ${model.generator} ${model.provider} ${model.model}`;
}

function factsOf({ model }: Choice): string {
  const facts = [
    model.generator,
    model.aspectRatios === null ? null : t('studio.ratios', { count: model.aspectRatios.length }),
    model.durations === null ? null : t('time.seconds', { seconds: model.durations.join(', ') }),
    model.maxImages === null ? null : t('studio.references', { count: model.maxImages }),
  ];
  return facts.filter((fact) => fact !== null).join(' · ');
}
