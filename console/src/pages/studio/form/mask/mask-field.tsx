import { useState } from 'react';

import type { StoredFile } from '../../../../api/kiln.ts';
import { FileField } from '../../../../library/file-field.tsx';
import { Icon } from '../../../../parts/icons.tsx';
import { Button } from '../../../../parts/looks/button.tsx';
import { Help } from '../../../../parts/looks/inputs.tsx';
import { later } from '../../../../parts/page/later.tsx';
import { t } from '../../../../text/text.ts';

const MaskEditor = later(async () => (await import('./mask-editor.tsx')).MaskEditor);

interface MaskFieldProps {
  readonly label: string;
  /** The image that it is a mask of; null while there is none. */
  readonly image: StoredFile | null;
  readonly mask: StoredFile | null;
  readonly onChange: (mask: StoredFile | null) => void;
}

/** Which part of the first reference is drawn anew: painted here, or an image in black and white that is sent. */
export function MaskField({ label, image, mask, onChange }: MaskFieldProps) {
  const [isPainting, setIsPainting] = useState(false);
  return (
    <div className="gap-2 flex flex-col min-w-0">
      <FileField
        label={label}
        accept="image/*"
        most={1}
        files={mask === null ? [] : [mask]}
        onChange={([next]) => onChange(next ?? null)}
        listed={false}
      />
      <Button
        size="small"
        className="self-start"
        disabled={image === null}
        onClick={() => setIsPainting(true)}
      >
        <Icon name="studio" size={14} />
        {t('mask.paint')}
      </Button>
      <Help>{t(image === null ? 'mask.needsImage' : 'mask.help')}</Help>
      {isPainting && image !== null && (
        <MaskEditor
          image={image}
          mask={mask}
          onClose={() => setIsPainting(false)}
          onDone={(next) => {
            setIsPainting(false);
            onChange(next);
          }}
        />
      )}
    </div>
  );
}
