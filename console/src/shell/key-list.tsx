import { useState } from 'react';

import { Modal } from '../parts/controls/modal.tsx';
import { hasSingleKeys, setSingleKeys } from '../parts/controls/typing.ts';
import { Check } from '../parts/looks/inputs.tsx';
import { Row } from '../parts/looks/lines.tsx';
import { t } from '../text/text.ts';
import { type Place, usePlaceName, usePlaces } from './places.ts';

/** The keys of every page and of some, each with what it does. */
function listKeys(
  places: readonly Place[],
  toName: ReturnType<typeof usePlaceName>,
): readonly (readonly [heading: string, rows: readonly (readonly [string, string])[]])[] {
  return [
    [
      t('keyList.everywhere'),
      [
        ['⌘K / Ctrl K', t('palette.title')],
        ...places.map((place) => [`G ${place.letter.toUpperCase()}`, toName(place)] as const),
        ['N', t('keyList.new')],
        ['/', t('keyList.search')],
        ['⇧ D', t('shell.theme')],
        ['?', t('palette.keys')],
      ],
    ],
    [t('page.studio'), [['1 – 9', t('studio.kind')]]],
    [
      t('page.gallery'),
      [
        ['← →', t('keyList.move')],
        ['↑ ↓', t('keyList.rows')],
        ['X', t('keyList.selectPiece')],
        ['Z', t('gallery.zoom')],
        ['+ −', t('keyList.zoom')],
        ['Esc', t('dialog.close')],
      ],
    ],
    [
      t('page.tasks'),
      [
        ['J K', t('keyList.rows')],
        ['X', t('keyList.select')],
        ['C', t('keyList.cancel')],
        ['R', t('keyList.remix')],
      ],
    ],
  ];
}

/** Every key and what it does; single keys can be turned off here. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const [isOn, setOn] = useState(hasSingleKeys);
  const places = usePlaces();
  const toName = usePlaceName();
  const change = (next: boolean) => {
    setSingleKeys(next);
    setOn(next);
  };
  return (
    <Modal title={t('palette.keys')} onClose={onClose} width="w-[min(720px,calc(100vw_-_32px))]">
      <label className="flex items-center gap-2 min-w-0">
        <Check checked={isOn} onChange={({ target }) => change(target.checked)} />
        {t('keyList.single')}
      </label>
      <div
        className="[columns:2_260px] gap-x-6 max-h-[60vh] overflow-y-auto"
        tabIndex={0}
        role="group"
        aria-label={t('palette.keys')}
      >
        {listKeys(places, toName).map(([heading, rows]) => (
          <section key={heading} className="pb-4">
            <h3 className="text-faint text-12 font-normal">{heading}</h3>
            <dl>
              {rows.map(([key, does]) => (
                <Row key={key} className="min-h-8 break-inside-avoid">
                  <dt className="w-26 flex-none">
                    <kbd className="inline-flex">{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </Row>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
