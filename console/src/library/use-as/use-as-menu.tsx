import { Popover } from '@base-ui/react/popover';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import { useModels } from '../../api/shared-queries.ts';
import { Icon } from '../../parts/icons.tsx';
import { buttonLook } from '../../parts/looks/button.tsx';
import { commandLook, pickerLook, placeLook } from '../../parts/looks/choices.tsx';
import { t, textOr } from '../../text/text.ts';
import { setDraft } from '../../work/keeper.ts';
import { type FilePlace, formAt, placesFor } from '../../work/reuse.ts';

/** The button and its menu, which is open when it is first drawn: every place of a form that takes such a file. */
export function UseAsMenu({ media }: { readonly media: MediaPartsFragment }) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(true);
  const { models = [] } = useModels().data ?? {};
  const use = (place: FilePlace) => {
    const draft = formAt(place, media, models);
    setOpen(false);
    if (draft === null) return;
    setDraft(place.tab, draft);
    void navigate({ to: '/', search: { kind: place.tab } });
  };
  return (
    <Popover.Root
      open={isOpen}
      // The button that was pressed has made way for this one: its loss of focus is no wish to close.
      onOpenChange={(open, { reason }) => (open || reason !== 'focus-out') && setOpen(open)}
    >
      <Popover.Trigger className={buttonLook({ size: 'small' })}>
        <Icon name="input" size={14} />
        {t('use.title')}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" className={placeLook}>
          <Popover.Popup
            className={`${pickerLook} sm:w-[min(320px,calc(100vw_-_24px))] p-2 max-h-[min(480px,var(--available-height))] overflow-y-auto text-start`}
            aria-label={t('use.title')}
          >
            {placesFor(media.contentType, models).map((place) => (
              <button
                key={`${place.kind} ${place.member}`}
                type="button"
                data-command
                className={`w-full ${commandLook}`}
                onClick={() => use(place)}
              >
                {textOr(`use.${place.kind}.${place.member}`, textOr(`field.${place.member}`, place.member))}
                <span className="ml-auto flex gap-1 text-12 text-faint">{t(`tab.${place.tab}`)}</span>
              </button>
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
