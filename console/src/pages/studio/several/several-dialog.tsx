import { useState } from 'react';

import { Modal } from '../../../parts/controls/modal.tsx';
import { t } from '../../../text/text.ts';
import { missingOf } from '../../../work/work.ts';
import { ModelsTab } from './models-tab.tsx';
import { OptionsTab } from './options-tab.tsx';
import type { SeveralProps } from './several-props.ts';

/** The same on several models, or a sheet of one or two options. */
export function SeveralDialog({ onClose, ...props }: SeveralProps & { readonly onClose: () => void }) {
  const [tab, setTab] = useState<'models' | 'options'>('models');
  const { choice, values } = props;
  const isEmpty = missingOf(choice, values).some((member) => member === 'prompt' || member === 'text');
  return (
    <Modal title={t('several.title')} onClose={onClose} className="modal w-[min(600px,calc(100vw_-_32px))]">
      <div className="seg self-start" role="group" aria-label={t('several.title')}>
        {(['models', 'options'] as const).map((one) => (
          <button key={one} type="button" aria-pressed={one === tab} onClick={() => setTab(one)}>
            {t(`several.${one}`)}
          </button>
        ))}
      </div>
      {isEmpty && <p className="note warn">{t('several.needsPrompt')}</p>}
      {tab === 'models' ? <ModelsTab {...props} /> : <OptionsTab {...props} />}
    </Modal>
  );
}
