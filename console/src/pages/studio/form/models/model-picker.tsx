import { useState } from 'react';

import { Field, Help, labelLook } from '../../../../parts/looks/inputs.tsx';
import { type Later, later } from '../../../../parts/page/later.tsx';
import { t } from '../../../../text/text.ts';
import { findRefusal } from '../../../../work/model-words.ts';
import { ChosenModel, chosenLook, pickerLabel, type ModelPickerProps } from './chosen-model.tsx';

const ModelList: Later<ModelPickerProps> = later(async () => (await import('./model-list.tsx')).ModelList, {
  fallback: (props) => <Closed {...props} onOpen={() => undefined} />,
});

/**
 * Chooses a model of the API's list, by kind of work where a tab has several; searchable, by keyboard too. The list is
 * loaded when the pointer or the focus comes near: it is an eighth of what a first view would load otherwise.
 */
export function ModelPicker(props: ModelPickerProps) {
  const [isWanted, setWanted] = useState(false);
  const refusal = findRefusal(props.chosen.model);
  return (
    <Field>
      <span className={labelLook}>{t('studio.model')}</span>
      {isWanted ? <ModelList {...props} /> : <Closed {...props} onOpen={() => setWanted(true)} />}
      {refusal !== null && (
        <Help bad role="status">
          {refusal}
        </Help>
      )}
    </Field>
  );
}

/** The button before its list is there. */
function Closed({ chosen, onOpen }: ModelPickerProps & { readonly onOpen: () => void }) {
  return (
    <button
      type="button"
      className={chosenLook}
      role="combobox"
      aria-expanded={false}
      aria-haspopup="dialog"
      aria-label={pickerLabel(chosen)}
      onPointerEnter={ModelList.prepare}
      onFocus={ModelList.prepare}
      onClick={onOpen}
    >
      <ChosenModel choice={chosen} />
    </button>
  );
}
