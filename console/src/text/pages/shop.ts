/** Texts of payments and refunds, in English and Simplified Chinese. */
export const shopEn = {
  'shop.refundOf': 'Refund of {name}',
  'shop.reason': 'Reason',
  'shop.reason.USER_REQUEST': 'The buyer asked for it',
  'shop.reason.TECHNICAL_ISSUE': 'Something went wrong here',
  'shop.reason.DUPLICATE': 'Paid twice',
  'shop.reason.FRAUDULENT': 'Fraud',
  'shop.amount': 'Amount',
  'shop.amountHelp': 'At most {amount}. The work that was bought stays.',
  'shop.giveBack': 'Give back {amount}',
  'shop.refunded': '{amount} given back',
  'shop.allPayments': 'All',
  'shop.paymentState': 'Filter by state of the payment',
  'shop.sum': '{count} payments, {amount}',
  'shop.disputed': 'disputed',
} as const;

/** The same in Simplified Chinese. */
export const shopZh: Readonly<Record<keyof typeof shopEn, string>> = {
  'shop.refundOf': '退款：{name}',
  'shop.reason': '原因',
  'shop.reason.USER_REQUEST': '买家要求',
  'shop.reason.TECHNICAL_ISSUE': '这里出了问题',
  'shop.reason.DUPLICATE': '重复付款',
  'shop.reason.FRAUDULENT': '欺诈',
  'shop.amount': '金额',
  'shop.amountHelp': '最多 {amount}。已购买的作品会保留。',
  'shop.giveBack': '退还 {amount}',
  'shop.refunded': '已退还 {amount}',
  'shop.allPayments': '全部',
  'shop.paymentState': '按付款状态筛选',
  'shop.sum': '{count} 笔付款，{amount}',
  'shop.disputed': '有争议',
};
