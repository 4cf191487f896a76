/** A subscription of GraphQL over WebSocket, as the README of graphql-ws has it; a request publishes the next value. */
import { EventEmitter, on } from 'node:events';
import { createServer } from 'node:http';
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { useServer as serve } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

const prices = new EventEmitter().setMaxListeners(0);
let number = 0;

const price = new GraphQLObjectType({
  name: 'Price',
  fields: { number: { type: GraphQLInt }, text: { type: GraphQLString } },
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { price: { type: price } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      price: {
        type: price,
        subscribe: () => on(prices, 'price'),
        resolve: ([value]) => value,
      },
    },
  }),
});

const server = createServer((request, response) => {
  if (request.url === '/publish') {
    prices.emit('price', { number, text: 'a price'.padEnd(100, '.') });
    number += 1;
  }
  response.end(`${prices.listenerCount('price')}\n`);
});
serve({ schema }, new WebSocketServer({ server, path: '/graphql' }));

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
