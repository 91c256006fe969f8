"""Titles of women in Spanish."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.titles import WomensTitles

WOMENS_TITLES: Final = WomensTitles(
    titles="""
    Lic. lic.: licenciada; Arq. arq.: arquitecta; Prof. prof. Prof: profesora; Dir. dir.: directora;
    Coord. coord.: coordinadora; Téc.: técnica; Abog. Abg.: abogada; Not.: notaria; Gob.: gobernadora;
    Mag.: magistrada; Sen.: senadora; Dip.: diputada; Min.: ministra; Pres.: presidenta;
    Psic.: psicóloga; Dr. dr. Dr: doctora
    """,
    names="""
    Adela Adriana Agustina Aitana Alejandra Alicia Alma Amalia Amelia Amparo Ana Andrea Ángela Ángeles Antonia
    Araceli Ariadna Asunción Aurora Bárbara Beatriz Begoña Belén Berta Blanca Brenda Camila Candela Carla Carlota
    Carmen Carolina Catalina Cecilia Celia Clara Claudia Concepción Consuelo Cristina Daniela Diana Dolores Edith
    Elena Elisa Elvira Emilia Encarnación Esperanza Estefanía Esther Ester Eugenia Eva Fabiola Fátima Fernanda
    Florencia Francisca Gabriela Gisela Graciela Guillermina Inés Inmaculada Irene Irma Isabel Itziar Ivonne Jimena
    Josefa Josefina Juana Julia Juliana Julieta Karina Karla Laura Leticia Lidia Liliana Lorena Lourdes Lucía Luisa
    Macarena Magdalena Maite Manuela Marcela Margarita Maria María Mariana Maribel Maricarmen Mariela Marisa Marisol
    Marta Martha Matilde Mercedes Micaela Mireia Miriam Mónica Montserrat Nadia Natalia Noelia Nora Norma Nuria
    Núria Olga Olivia Ofelia Paloma Paola Patricia Paula Paulina Raquel Rebeca Regina Renata Rocío Romina Rosalía
    Rosana Roxana Ruth Sandra Sara Silvana Silvia Sofía Soledad Sonia Susana Tamara Tatiana Teresa Úrsula Valentina
    Valeria Vanesa Vanessa Verónica Victoria Violeta Virginia Viviana Ximena Yolanda Mª M.ª Ma.
    """,
    also_surnames="Gloria Leonor Luz Marina Pilar Rosa Rosario",
    before_men="el del al un",
)
