# What R says of the recorded raw files: Rscript quantiles.R FILE... > quantiles.tsv
# Only answers of status 2xx and 3xx count, as in the bench. Type 7 is R's
# default.
cat("file\tfigure\tvalue\n")
for (file in commandArgs(trailingOnly = TRUE)) {
    d <- read.table(file, col.names = c("start", "status", "us"))
    x <- d$us[d$status >= 200 & d$status < 400]
    p <- c(min = 0, q1 = .25, median = .5, q3 = .75, max = 1, p99 = .99,
           p999 = .999)
    v <- c(quantile(x, p, names = FALSE), mean(x), length(x))
    cat(sprintf("%s\t%s\t%.9f\n", basename(file), c(names(p), "mean", "n"), v),
        sep = "")
}
