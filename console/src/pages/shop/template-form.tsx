import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';

import { useCaller } from '../../api/use-caller.ts';
import { TemplateFields } from '../../library/template-fields.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import type { Values } from '../../work/work.ts';
import { buyerOf, forgetCheckout, leftCheckout } from './order/buyer.ts';
import { priceText, type Template, useParameters } from './order/template.ts';
import { useOrder } from './order/use-order.ts';

/** Buys a template with its own parameters, or runs it at once where the caller need not pay. */
export function TemplateForm({ template }: { readonly template: Template }) {
  const caller = useCaller();
  const parameters = useParameters(template);
  const [values, setValues] = useState<Values>(() => leftValues(template.code));
  const { run, buy, error, isBusy } = useOrder(template.code);
  const card = useRef<HTMLElement>(null);
  // On a phone the form is below the cards.
  useEffect(() => {
    // In braces: browsers that answer a promise would have it taken for a clean-up.
    card.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  useEffect(forgetCheckout, []);
  const { salePrice, creditCost } = template;
  const canBuy = salePrice !== null && salePrice.amount > 0 && buyerOf(caller) !== null;
  const canRun = caller !== undefined && (creditCost === 0 || caller.mayRunUnpaid);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canBuy) buy(values);
    else run(values);
  };
  return (
    <section className="card" ref={card}>
      <header>
        <h2>{template.name}</h2>
        {caller?.mayAdministrate === true && (
          <Link className="btn sm push" to="/shop/templates/$code" params={{ code: template.code }}>
            {t('shop.edit')}
          </Link>
        )}
      </header>
      <form className="pad col gap-3" aria-label={template.name} onSubmit={submit}>
        <TemplateFields parameters={parameters} values={values} onChange={setValues} />
        {error !== undefined && <Problem error={error} />}
        {canBuy && (
          <button type="submit" className="btn pri lg full" disabled={isBusy}>
            {t('shop.buy', { price: priceText(template) })}
          </button>
        )}
        {canBuy && <p className="c12 mute">{t('shop.buyText')}</p>}
        {canRun && (
          <button
            type={canBuy ? 'button' : 'submit'}
            className={canBuy ? 'btn full' : 'btn pri lg full'}
            disabled={isBusy}
            onClick={canBuy ? () => run(values) : undefined}
          >
            {t(creditCost === 0 ? 'shop.run' : 'shop.runUnpaid')}
          </button>
        )}
        {!canBuy && !canRun && caller !== undefined && <p className="mute">{t('shop.notForSale')}</p>}
      </form>
    </section>
  );
}

/** What the form held before its buyer went to the payment page and came back without paying. */
function leftValues(code: string): Values {
  const left = leftCheckout();
  return left?.code === code ? left.values : {};
}
