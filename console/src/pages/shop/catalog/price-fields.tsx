import { Input } from '../../../parts/looks/inputs.tsx';
import { t } from '../../../text/text.ts';
import { Field } from './fields.tsx';
import type { PartProps } from './work-fields.tsx';

/** What it costs: in credits, or a price of its own. `usual` is the currency of those that name none. */
export function PriceFields({ draft, problems, onChange, usual }: PartProps & { readonly usual: string }) {
  const { creditCost, price, currency } = draft;
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-3 items-start">
      <Field label={t('shop.creditCost')} problem={problems['creditCost']}>
        {(common) => (
          <Input
            {...common}
            type="number"
            min={0}
            step={1}
            required
            value={creditCost}
            onChange={({ target }) => onChange({ creditCost: target.value })}
          />
        )}
      </Field>
      <Field label={t('shop.ownPrice')} help={t('shop.ownPriceHelp')} problem={problems['price']}>
        {(common) => (
          <Input
            {...common}
            type="number"
            min={0}
            step="any"
            placeholder={t('shop.byCredits')}
            value={price}
            onChange={({ target }) => onChange({ price: target.value })}
          />
        )}
      </Field>
      <Field label={t('shop.currency')} problem={problems['currency']}>
        {(common) => (
          <Input
            {...common}
            maxLength={3}
            disabled={price.trim() === ''}
            placeholder={usual}
            value={currency}
            onChange={({ target }) => onChange({ currency: target.value })}
          />
        )}
      </Field>
    </div>
  );
}
