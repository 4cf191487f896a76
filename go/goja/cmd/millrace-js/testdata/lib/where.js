module.exports = () => new Error('in a module');
