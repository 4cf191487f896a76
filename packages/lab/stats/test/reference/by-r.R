# Writes r.json, the values that the tests compare with; base R 4.2.2 has all that it needs:
#
#     Rscript by-r.R > r.json && npx biome format --write r.json

set.seed(1701)

number <- function(value) sprintf("%.15g", value)
numbers <- function(values) sprintf("[%s]", paste(number(values), collapse = ", "))
text <- function(value) sprintf("\"%s\"", value)
object <- function(...) {
  fields <- list(...)
  sprintf("{%s}", paste(sprintf("\"%s\": %s", names(fields), fields), collapse = ",\n"))
}
array <- function(items) sprintf("[%s]", paste(items, collapse = ",\n"))

delta <- function(x, y) mean(sign(outer(y, x, "-")))

two <- function(name, x, y, level = 0.95) {
  is_exact <- length(x) * length(y) <= 2500
  test <- suppressWarnings(wilcox.test(y, x, conf.int = TRUE, conf.level = level, exact = is_exact))
  object(
    name = text(name), control = numbers(x), treatment = numbers(y), asked = number(level),
    u = number(test$statistic), p = number(test$p.value), shift = number(median(outer(y, x, "-"))),
    lo = number(test$conf.int[1]), hi = number(test$conf.int[2]),
    level = number(attr(test$conf.int, "conf.level")), delta = number(delta(x, y))
  )
}

paired <- function(name, x, y, level = 0.95) {
  is_exact <- length(x) <= 100
  test <- suppressWarnings(wilcox.test(y - x, conf.int = TRUE, conf.level = level, exact = is_exact))
  walsh <- outer(y - x, y - x, "+") / 2
  object(
    name = text(name), control = numbers(x), treatment = numbers(y), asked = number(level),
    w = number(test$statistic), p = number(test$p.value), shift = number(median(walsh[upper.tri(walsh, TRUE)])),
    lo = number(test$conf.int[1]), hi = number(test$conf.int[2]), level = number(attr(test$conf.int, "conf.level"))
  )
}

# Only effects, which R's test has no exact p for.
tied <- function(name, x, y) {
  object(
    name = text(name), control = numbers(x), treatment = numbers(y),
    shift = number(median(outer(y, x, "-"))), delta = number(delta(x, y))
  )
}

spread <- function(name, values) {
  shares <- c(0, 0.025, 1 / 3, 0.5, 0.9, 1)
  object(
    name = text(name), values = numbers(values), mean = number(mean(values)), median = number(median(values)),
    shares = numbers(shares), quantiles = numbers(quantile(values, shares, type = 7)),
    iqr = number(IQR(values, type = 7)),
    mad = number(mad(values, constant = 1)), deviation = number(sd(values))
  )
}

holm <- function(ps) object(ps = numbers(ps), adjusted = numbers(p.adjust(ps, "holm")))

short <- function(values) round(values, 4)
x60 <- short(rlnorm(60, 3, 0.3))
y60 <- short(x60 * 1.1 + rnorm(60))
z <- c(-37.5, -25, -12, -7, -4.5, -3, -2.2, -1.5, -0.7, -1e-5, 0, 0.3, 1.1, 1.999, 2.001, 3.7, 6, 9)
shares <- c(1e-290, 1e-50, 1e-12, 1e-4, 0.003, 0.0249, 0.2, 0.45, 0.499999, 0.55, 0.8, 0.975, 0.9999)

cat(object(
  made = text(paste("R", getRversion())),
  cdf = array(sapply(z, function(each) numbers(c(each, pnorm(each))))),
  quantile = array(sapply(shares, function(each) numbers(c(each, qnorm(each))))),
  twoSamples = array(c(
    two("one each", 1, 3),
    two("two each", c(1, 2), c(2.5, 7)),
    two("three each", c(1, 2, 3), c(2.5, 7, 4)),
    two("four each", short(rnorm(4)), short(rnorm(4, 1))),
    two("6 and 9", short(rnorm(6)), short(rnorm(9, 1))),
    two("skewed 12 each", short(rlnorm(12)), short(rlnorm(12, 0.5))),
    two("20 and 15 at 99 %", short(rnorm(20)), short(rnorm(15, 0.5)), 0.99),
    two("50 each", short(rlnorm(50, 3, 0.2)), short(rlnorm(50, 3.1, 0.2))),
    two("60 each", short(rnorm(60)), short(rnorm(60, 0.5))),
    two("2 and 58", short(rnorm(2)), short(rnorm(58, 1)))
  )),
  paired = array(c(
    paired("one", 2, 1),
    paired("three", c(1, 2, 3), c(1.5, 2.25, 4)),
    paired("six", x60[1:6], y60[1:6]),
    paired("15 at 90 %", x60[7:21], y60[7:21], 0.9),
    paired("40", x60[1:40], y60[1:40]),
    paired("60", x60, y60),
    paired("150", short(rnorm(150)), short(rnorm(150, 0.3)))
  )),
  tied = array(c(
    tied("5 and 7", sample(5, 5, TRUE), sample(7, 7, TRUE)),
    tied("30 each", sample(9, 30, TRUE), sample(12, 30, TRUE)),
    tied("constant", rep(2, 4), rep(2, 6)),
    tied("constant against another", rep(2, 4), rep(3, 6))
  )),
  spread = array(c(
    spread("two", c(7.5, 1.25)),
    spread("five", c(3, 1, 4, 1, 5)),
    spread("skewed 60", x60),
    spread("tied 24", sample(5, 24, TRUE))
  )),
  holm = array(c(
    holm(0.04),
    holm(c(0.01, 0.04, 0.03, 0.005)),
    holm(c(0.5, 0.6, 0.7)),
    holm(c(0, 1, 0.02, 0.02, 0.9)),
    holm(short(runif(20)^3))
  ))
), "\n")
