/** The shop that the demonstration is about, and what each of the four agents did to it. */

const CART = `import { findProduct } from './catalog.js';

/** A new, empty cart. */
export function newCart() {
  return { items: [] };
}

/** The cart with one more product in it. */
export function add(cart, id) {
  return { ...cart, items: [...cart.items, id] };
}

/** The price of one product, in cents. */
function priceOf(id) {
  return findProduct(id).price;
}

/** What the cart costs, in cents. */
export function total(cart) {
  const sum = cart.items.reduce((cents, id) => cents + priceOf(id), 0);
  return sum;
}
`;

export const SHOP = {
  'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
  'README.md': '# Shop\n\nA cart and a search.\n',
  'sennit.yaml': 'gates:\n  root: node --test\n',
  'src/catalog.js': `const products = [
  { id: 'tea', name: 'Green tea', price: 450 },
  { id: 'pot', name: 'Tea pot', price: 2900 },
  { id: 'cup', name: 'Cup', price: 800 },
];

export const allProducts = () => products;

export const findProduct = (id) => products.find((product) => product.id === id);
`,
  'src/cart.js': CART,
  'src/search.js': `import { allProducts } from './catalog.js';

/** The products whose name holds the text. */
export function search(text) {
  return allProducts().filter(({ name }) => name.includes(text));
}
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { add, newCart, total } from '../src/cart.js';

test('a cart costs what is in it', () => {
  assert.equal(total(add(add(newCart(), 'tea'), 'pot')), 3350);
});
`,
  'test/search.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { search } from '../src/search.js';

test('a product is found by its name', () => {
  assert.deepEqual(search('pot').map(({ id }) => id), ['pot']);
});
`,
};

const REMOVE = `/** The cart without one product. */
export function remove(cart, id) {
  return { ...cart, items: cart.items.filter((item) => item !== id) };
}

`;

/** A test file of one test about the cart. */
function cartTest(imports, title, body) {
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${imports} } from '../src/cart.js';

test('${title}', () => {
  ${body}
});
`;
}

/** `left` says in what state an agent left its worktree. */
export const AGENTS = [
  {
    name: 'cart',
    left: 'two commits, in src/cart.js and a test',
    commits: [
      {
        message: 'Remove a product from the cart',
        files: { 'src/cart.js': (text) => text.replace('/** The cart with one more', `${REMOVE}$&`) },
      },
      {
        message: 'Test the removal',
        files: {
          'test/remove.test.js': cartTest(
            'add, newCart, remove, total',
            'a removed product costs nothing',
            "assert.equal(total(remove(add(newCart(), 'tea'), 'tea')), 0);",
          ),
        },
      },
    ],
    uncommitted: {},
  },
  {
    name: 'search',
    left: 'nothing committed: a change and two untracked files',
    commits: [],
    uncommitted: {
      'src/search.js': (text) =>
        text.replace('name.includes(text)', 'name.toLowerCase().includes(text.toLowerCase())'),
      'src/suggest.js': `import { search } from './search.js';

/** The first names that a text could become. */
export function suggest(text, count = 3) {
  return search(text)
    .slice(0, count)
    .map(({ name }) => name);
}
`,
      'test/suggest.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from '../src/suggest.js';

test('names are suggested whatever their case', () => {
  assert.deepEqual(suggest('tea'), ['Green tea', 'Tea pot']);
});
`,
    },
  },
  {
    name: 'vouchers',
    left: 'one commit in src/cart.js as well, in another place than cart, and an untracked test',
    commits: [
      {
        message: 'Take a voucher off the total',
        files: {
          'src/cart.js': (text) =>
            text.replace('return sum;', 'return Math.max(0, sum - (cart.voucher ?? 0));'),
        },
      },
    ],
    uncommitted: {
      'test/voucher.test.js': cartTest(
        'add, newCart, total',
        'a voucher makes a cart cheaper, but not cheaper than nothing',
        "assert.equal(total({ ...add(newCart(), 'tea'), voucher: 500, pickup: true }), 0);",
      ),
    },
  },
  {
    name: 'shipping',
    left: 'not committed, and in the same line of src/cart.js as vouchers: the conflict',
    commits: [],
    uncommitted: {
      'src/cart.js': (text) =>
        text
          .replace("from './catalog.js';\n", "$&import { shippingOf } from './shipping.js';\n")
          .replace('return sum;', 'return sum + shippingOf(cart, sum);'),
      'src/shipping.js': `/** What it costs to send a cart that is worth \`sum\`, in cents. */
export function shippingOf(cart, sum) {
  return cart.pickup || sum >= 3000 || sum === 0 ? 0 : 490;
}
`,
      'test/shipping.test.js': cartTest(
        'add, newCart, total',
        'a small cart costs shipping',
        "assert.equal(total(add(newCart(), 'cup')), 1290);",
      ),
    },
  },
];

/** What a person makes of the two versions of the last line. */
export const RESOLVED_TOTAL = `  const paid = Math.max(0, sum - (cart.voucher ?? 0));
  return paid + shippingOf(cart, sum);
`;
