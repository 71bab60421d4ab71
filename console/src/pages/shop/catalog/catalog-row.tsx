import { Link } from '@tanstack/react-router';

import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import { priceText } from '../../../library/order.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Check } from '../../../parts/looks/inputs.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { FiguresCell } from '../../../parts/looks/table.tsx';
import { ServerWords } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';

interface CatalogRowProps {
  readonly template: CatalogPartsFragment;
  /** Why it can not be run now; null when it can. */
  readonly reason: string | null;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

/** A template in the list of all. */
export function CatalogRow({ template, reason, isSelected, onSelect }: CatalogRowProps) {
  const { code, name, templateType, workflow, ppSynced, salePrice } = template;
  return (
    <tr aria-selected={isSelected}>
      <td>
        <Check aria-label={t('gallery.selectOne', { name })} checked={isSelected} onChange={onSelect} />
      </td>
      <td>
        <Link className="block font-medium" to="/shop/templates/$code" params={{ code }}>
          {name}
        </Link>
        <Small className="block font-mono">{code}</Small>
      </td>
      <td className="max-sm:hidden">
        {t(`shop.${templateType}`)} <Small className="block font-mono">{workflow}</Small>
      </td>
      <FiguresCell>{priceText(template)}</FiguresCell>
      <td>
        <SaleState template={template} reason={reason} />
      </td>
      <td className="max-sm:hidden text-muted">
        {salePrice === null ? t('shop.noProvider') : t(ppSynced ? 'shop.synced' : 'shop.notSynced')}
      </td>
    </tr>
  );
}

/** Whether it is on sale, and why it can not be run, as shape and words. */
export function SaleState({ template, reason }: Pick<CatalogRowProps, 'template' | 'reason'>) {
  return (
    <>
      <span
        className={`flex items-center gap-1.5 font-medium whitespace-nowrap ${template.isActive ? 'text-succeeded' : 'text-cancelled'}`}
      >
        <Icon name={template.isActive ? 'check' : 'minus'} size={14} />
        {t(template.isActive ? 'shop.active' : 'shop.inactive')}
      </span>
      {reason !== null && (
        <span className="text-12 font-normal flex gap-2 min-w-0 text-attention max-w-105 items-start [&_svg]:flex-none [&_svg]:mt-0.5">
          <Icon name="warning" size={12} />
          {t('shop.cannotRun')} <ServerWords text={reason} />
        </span>
      )}
    </>
  );
}
