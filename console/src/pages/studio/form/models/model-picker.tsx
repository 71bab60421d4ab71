import { lazy, Suspense, useState } from 'react';

import { t } from '../../../../text/text.ts';
import { insteadText } from '../../../../work/model-words.ts';
import { ChosenModel, labelOf, type ModelPickerProps } from './chosen-model.tsx';

const load = async () => ({ default: (await import('./model-list.tsx')).ModelList });
const ModelList = lazy(load);

/**
 * Chooses a model of the API's list, by kind of work where a tab has several; searchable, by keyboard too. The list is
 * loaded when the pointer or the focus comes near: it is an eighth of what a first view would load otherwise.
 */
export function ModelPicker(props: ModelPickerProps) {
  const [isWanted, setWanted] = useState(false);
  const button = <Closed {...props} onOpen={() => setWanted(true)} />;
  const instead = insteadText(props.chosen.model);
  return (
    <div className="field">
      <span className="lab">{t('studio.model')}</span>
      {isWanted ? (
        <Suspense fallback={button}>
          <ModelList {...props} />
        </Suspense>
      ) : (
        button
      )}
      {instead !== null && (
        <p className="help bad" role="status">
          {instead}
        </p>
      )}
    </div>
  );
}

/** The button before its list is there. */
function Closed({ chosen, onOpen }: ModelPickerProps & { readonly onOpen: () => void }) {
  const prepare = () => void load().catch(() => undefined);
  return (
    <button
      type="button"
      className="model"
      role="combobox"
      aria-expanded={false}
      aria-haspopup="dialog"
      aria-label={labelOf(chosen)}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={onOpen}
    >
      <ChosenModel choice={chosen} />
    </button>
  );
}
