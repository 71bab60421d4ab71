import { useState } from 'react';

import { Modal } from '../../../parts/controls/modal.tsx';
import { Note } from '../../../parts/looks/panels.tsx';
import { Segments } from '../../../parts/looks/segments.tsx';
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
    <Modal title={t('several.title')} onClose={onClose} width="w-[min(600px,calc(100vw_-_32px))]">
      <Segments
        className="self-start"
        label={t('several.title')}
        values={['models', 'options'] as const}
        value={tab}
        textOf={(one) => t(`several.${one}`)}
        onChoose={setTab}
      />
      {isEmpty && <Note tone="warn">{t('several.needsPrompt')}</Note>}
      {tab === 'models' ? <ModelsTab {...props} /> : <OptionsTab {...props} />}
    </Modal>
  );
}
