import { Icon } from '../../../../parts/icons.tsx';
import { Small } from '../../../../parts/looks/lines.tsx';
import { SandboxTag, Tag } from '../../../../parts/looks/panels.tsx';
import { t } from '../../../../text/text.ts';
import { endText, priceText } from '../../../../work/model-words.ts';
import type { Choice, Model } from '../../../../work/work.ts';

/** What the picker of models is given. */
export interface ModelPickerProps {
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly onChoose: (choice: Choice) => void;
}

/** What the picker's button is called. */
export function pickerLabel({ model }: Choice): string {
  return `${t('studio.model')}: ${model.name}`;
}

/** The classes of the picker's button. */
export const chosenLook =
  'flex w-full items-center gap-3 rounded-control border border-line-strong bg-surface px-3 py-2 hover:bg-hover';

/** What the picker's button shows. */
export function ChosenModel({ choice }: { readonly choice: Choice }) {
  const { model } = choice;
  return (
    <>
      <Glyph choice={choice} />
      <span className="flex-1 min-w-0">
        <span className="block truncate font-medium min-w-0">{model.name}</span>
        <Small className="block truncate min-w-0">
          {[endText(model), model.generator, priceText(model)].filter((fact) => fact !== null).join(' · ')}
        </Small>
      </span>
      {model.sandbox && <SandboxTag />}
      <Icon name="down" />
    </>
  );
}

/** That a model ends soon, or has ended. */
export function EndTag({ model }: { readonly model: Model }) {
  const text = endText(model);
  return text === null ? null : <Tag>{text}</Tag>;
}

/** The first letter of a model's provider. */
export function Glyph({ choice: { model } }: { readonly choice: Choice }) {
  return (
    <span
      className="w-8 h-8 rounded-control bg-sunken border border-line grid place-items-center text-12 font-semibold flex-none text-muted"
      aria-hidden="true"
    >
      {model.provider.slice(0, 1).toUpperCase()}
    </span>
  );
}
